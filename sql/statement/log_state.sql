-- Notes how a run has left its grain intervals; what was marked stale is so no longer. Where it skipped one that was loaded before,
-- nothing has changed, and what is known of it stays.
-- $1 the target; $2 the run; $3 the rules version.
UPDATE daybook.interval_state AS s
SET interval_end = i.interval_end, status = i.status, run_id = i.run_id, rules_version = $3, rows_inserted = i.rows_inserted,
    loaded_at = now(), stale_since = NULL, stale_reason = NULL
FROM daybook.run_interval AS i
WHERE i.run_id = $2 AND s.target = $1 AND s.interval_start = i.interval_start
  AND (i.status <> 'skipped' OR coalesce(s.status, 'skipped') = 'skipped')
