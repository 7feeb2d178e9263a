-- Notes how far a history has come.
-- $1 the target; $2 the newest instant of the run; $3 its reference, where the source dated its versions.
UPDATE daybook.history
SET newest = greatest(newest, $2), source_dated_until = greatest(source_dated_until, $3)
WHERE target = $1 AND (newest, source_dated_until)
    IS DISTINCT FROM (greatest(newest, $2), greatest(source_dated_until, $3))
