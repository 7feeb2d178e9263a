-- Notes how far a history has come.
-- $1 the target; $2 the newest instant that it knows; $3 the newest instant up to which a source dated versions in this run.
UPDATE daybook.history
SET newest = $2, source_dated_until = greatest(source_dated_until, $3)
WHERE target = $1 AND (newest, source_dated_until) IS DISTINCT FROM ($2, greatest(source_dated_until, $3))
