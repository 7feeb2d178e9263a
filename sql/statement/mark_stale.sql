-- Marks recorded intervals as in need of a new load; takes them in order, as loads do.
-- $1 the target; $2 start; $3 end; $4 the reason.
WITH held AS MATERIALIZED (
    SELECT s.target, s.interval_start
    FROM daybook.interval_state AS s
    WHERE s.target = $1 AND s.interval_start >= $2 AND s.interval_start < $3 AND s.status IS NOT NULL
    ORDER BY s.interval_start
    FOR UPDATE
)
UPDATE daybook.interval_state AS s
SET stale_since = now(), stale_reason = $4
FROM held
WHERE s.target = held.target AND s.interval_start = held.interval_start
