-- What everyone may read. A row shows to those who may read or write the target it speaks of.

CREATE FUNCTION daybook.may_see(target oid) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce(
        pg_catalog.has_table_privilege(target, 'SELECT, INSERT'),
        (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user));
COMMENT ON FUNCTION daybook.may_see(oid) IS
    'Whether the caller may read what daybook knows of a target: by a right on it; of a dropped one, as superuser';

CREATE VIEW daybook.loads WITH (security_barrier) AS
SELECT l.target,
       pg_catalog.format('%I.%I', l.source_schema, l.source_name) AS source,
       l.time_column, l.grain, l.zone, l.origin, l.stamp_column, l.loaded_at_column,
       l.keys, l.dedup_order_by, l.history_starts, l.settle, l.extra_columns,
       t.search_path
FROM daybook.load AS l
JOIN daybook.target AS t ON t.target = l.target
WHERE daybook.may_see(l.target);
COMMENT ON VIEW daybook.loads IS 'Registered interval loads';
COMMENT ON COLUMN daybook.loads.target IS 'The table that the load writes';
COMMENT ON COLUMN daybook.loads.source IS 'The relation it reads, by name';
COMMENT ON COLUMN daybook.loads.time_column IS 'Column of source and target that says when a row happened';
COMMENT ON COLUMN daybook.loads.grain IS 'Length of one grain interval';
COMMENT ON COLUMN daybook.loads.zone IS 'Time zone in which grains are counted and local bounds are read';
COMMENT ON COLUMN daybook.loads.origin IS 'Local instant from which grains are counted';
COMMENT ON COLUMN daybook.loads.stamp_column IS 'Target column that holds the start of the row''s grain interval';
COMMENT ON COLUMN daybook.loads.loaded_at_column IS 'Target column that is filled with the time of the load, if the target has it';
COMMENT ON COLUMN daybook.loads.keys IS 'Columns that are unique within each grain interval, checked on every load';
COMMENT ON COLUMN daybook.loads.dedup_order_by IS 'With keys: order in which the first row of a key is kept';
COMMENT ON COLUMN daybook.loads.history_starts IS 'Start of the first interval that is due';
COMMENT ON COLUMN daybook.loads.settle IS 'How long after its end an interval counts as closed';
COMMENT ON COLUMN daybook.loads.extra_columns IS 'Source columns that the target lacks: error or ignore';
COMMENT ON COLUMN daybook.loads.search_path IS 'Schemas in which registered SQL finds its names';

CREATE VIEW daybook.rules WITH (security_barrier) AS
SELECT r.target, r.position, r.name, r.kind, r.column_name, r.expression
FROM daybook.rule AS r
WHERE daybook.may_see(r.target);
COMMENT ON VIEW daybook.rules IS 'Registered rules, in order of position';
COMMENT ON COLUMN daybook.rules.target IS 'The table whose loads apply the rule';
COMMENT ON COLUMN daybook.rules.position IS 'Place in the order, from 1';
COMMENT ON COLUMN daybook.rules.name IS 'Name of the rule, unique per target';
COMMENT ON COLUMN daybook.rules.kind IS 'filter: keep a row only where the expression is true; expression: value of a column';
COMMENT ON COLUMN daybook.rules.column_name IS 'Column that an expression rule sets';
COMMENT ON COLUMN daybook.rules.expression IS 'The SQL expression as it was registered';

CREATE VIEW daybook.runs WITH (security_barrier) AS
SELECT r.run_id, r.target, r.target_name, r.function, r.status, r.interval_start, r.interval_end, r.wide, r.params,
       r.rules_version, r.rows_read, r.rows_dropped, r.rows_deleted, r.rows_inserted, r.dropped_by,
       r.called_by, r.started_at, r.finished_at, r.sqlstate,
       CASE WHEN coalesce(pg_catalog.has_table_privilege(r.target, 'SELECT'), true) THEN r.error END AS error
FROM daybook.run AS r
WHERE daybook.may_see(r.target);
COMMENT ON VIEW daybook.runs IS 'The log of runs, one row per call';
COMMENT ON COLUMN daybook.runs.run_id IS 'Number of the run';
COMMENT ON COLUMN daybook.runs.target IS 'The table that was written; null once it is dropped';
COMMENT ON COLUMN daybook.runs.target_name IS 'Its name at the time of the run';
COMMENT ON COLUMN daybook.runs.function IS 'The function that was called';
COMMENT ON COLUMN daybook.runs.status IS 'loaded, skipped (there was nothing to load), or failed (with on_error => ''report'')';
COMMENT ON COLUMN daybook.runs.interval_start IS 'Start of the interval that was asked for';
COMMENT ON COLUMN daybook.runs.interval_end IS 'End of the interval that was asked for, exclusive';
COMMENT ON COLUMN daybook.runs.wide IS 'One delete and insert for all intervals, or one for each';
COMMENT ON COLUMN daybook.runs.params IS 'Parameters of the call';
COMMENT ON COLUMN daybook.runs.rules_version IS 'Version of the rules that were applied';
COMMENT ON COLUMN daybook.runs.rows_read IS 'Rows read from the source';
COMMENT ON COLUMN daybook.runs.rows_dropped IS 'Rows that filters, or the choice of one row per key, dropped';
COMMENT ON COLUMN daybook.runs.rows_deleted IS 'Rows deleted from the target';
COMMENT ON COLUMN daybook.runs.rows_inserted IS 'Rows inserted into the target';
COMMENT ON COLUMN daybook.runs.dropped_by IS 'Rows dropped, by the name of the rule that dropped them';
COMMENT ON COLUMN daybook.runs.called_by IS 'Role that called';
COMMENT ON COLUMN daybook.runs.started_at IS 'When the call began';
COMMENT ON COLUMN daybook.runs.finished_at IS 'When the call ended, before its commit';
COMMENT ON COLUMN daybook.runs.sqlstate IS 'SQLSTATE of the error of a failed run';
COMMENT ON COLUMN daybook.runs.error IS 'Message of the error of a failed run, which may quote values; for those who may read the target';

CREATE VIEW daybook.interval_log WITH (security_barrier) AS
SELECT r.target, i.interval_start, i.interval_end, i.status, i.rows_read, i.rows_dropped, i.rows_deleted,
       i.rows_inserted, r.rules_version, i.run_id, r.finished_at AS logged_at,
       s.run_id IS NOT NULL AS is_current, s.stale_since, s.stale_reason
FROM daybook.run_interval AS i
JOIN daybook.run AS r ON r.run_id = i.run_id
LEFT JOIN daybook.interval_state AS s
    ON s.target = r.target AND s.interval_start = i.interval_start AND s.run_id = i.run_id
WHERE daybook.may_see(r.target);
COMMENT ON VIEW daybook.interval_log IS 'What each run did to each grain interval';
COMMENT ON COLUMN daybook.interval_log.target IS 'The table that was written; null once it is dropped';
COMMENT ON COLUMN daybook.interval_log.interval_start IS 'Start of the grain interval';
COMMENT ON COLUMN daybook.interval_log.interval_end IS 'End of the grain interval, exclusive';
COMMENT ON COLUMN daybook.interval_log.status IS 'loaded, empty, skipped, open (loaded before it had closed) or failed';
COMMENT ON COLUMN daybook.interval_log.rows_read IS 'Rows read from the source';
COMMENT ON COLUMN daybook.interval_log.rows_dropped IS 'Rows dropped by filters or by the choice of one row per key';
COMMENT ON COLUMN daybook.interval_log.rows_deleted IS 'Rows deleted from the target';
COMMENT ON COLUMN daybook.interval_log.rows_inserted IS 'Rows inserted into the target';
COMMENT ON COLUMN daybook.interval_log.rules_version IS 'Version of the rules that were applied';
COMMENT ON COLUMN daybook.interval_log.run_id IS 'The run';
COMMENT ON COLUMN daybook.interval_log.logged_at IS 'When the run ended, before its commit';
COMMENT ON COLUMN daybook.interval_log.is_current IS 'Whether no later run has written the interval';
COMMENT ON COLUMN daybook.interval_log.stale_since IS 'When the interval was marked stale, if it is';
COMMENT ON COLUMN daybook.interval_log.stale_reason IS 'Why it was marked stale';
