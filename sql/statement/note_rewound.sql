-- Notes that a history knows nothing after an instant any more.
-- $1 the target; $2 the instant.
UPDATE daybook.history SET newest = $2 WHERE target = $1 AND newest > $2
