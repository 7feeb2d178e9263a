-- Forgets a load.
-- $1 the target.
DELETE FROM daybook.load WHERE target = $1
