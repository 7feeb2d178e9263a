-- Runs of a history since an instant that dated versions by the source, and how many versions they wrote or ended.
-- $1 the target; $2 the instant.
SELECT jsonb_build_object('runs', count(*), 'versions', coalesce(sum(r.versions_opened + r.versions_closed), 0)::bigint)
FROM daybook.run AS r
WHERE r.target = $1 AND r.reference_timestamp > $2 AND r.function = 'historize' AND r.status = 'loaded'
