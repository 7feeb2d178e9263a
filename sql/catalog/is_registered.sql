-- Whether something is registered for a target at this moment.
-- $1 the target.
SELECT 1 FROM daybook.target WHERE target = $1
