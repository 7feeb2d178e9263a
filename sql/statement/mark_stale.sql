-- Marks recorded intervals as in need of a new load.
-- $1 the target; $2 start; $3 end; $4 the reason.
UPDATE daybook.interval_state AS s
SET stale_since = now(), stale_reason = $4
WHERE s.target = $1 AND s.interval_start >= $2 AND s.interval_start < $3 AND s.status IS NOT NULL
