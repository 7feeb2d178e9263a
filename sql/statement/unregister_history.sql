-- Forgets a history.
-- $1 the target.
DELETE FROM daybook.history WHERE target = $1
