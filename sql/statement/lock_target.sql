-- Holds what is registered for a target as it is, until the transaction ends.
-- $1 the target.
SELECT 1 FROM daybook.target WHERE target = $1 FOR SHARE
