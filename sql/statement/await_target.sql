-- Waits until nobody holds what is registered for a target, neither for a change nor as it is.
-- $1 the target.
SELECT 1 FROM daybook.target WHERE target = $1 FOR NO KEY UPDATE
