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

CREATE VIEW daybook.histories WITH (security_barrier) AS
SELECT h.target,
       CASE WHEN h.source_name IS NOT NULL THEN pg_catalog.format('%I.%I', h.source_schema, h.source_name) END AS source,
       h.keys,
       h.historize_blacklist,
       h.historize_whitelist,
       h.time_axis_unit,
       h.zone,
       h.check_input_unique,
       h.dedup_order_by,
       h.source_timestamp_column,
       h.existing_predicate,
       h.cdc_column,
       h.cdc_deleted_value,
       h.cdc_auto_detect,
       h.cdc_timestamp_auto_detect,
       h.skip_unchanged,
       h.intermediate_versions,
       h.delivery,
       h.delivery_scope,
       h.late,
       h.ignore_old_deleted_columns,
       h.ignore_old_deleted_nested_columns,
       h.on_empty,
       h.max_closed_percent,
       h.captured_column,
       h.delimited_column,
       h.hash_column,
       h.upper_horizon,
       h.newest,
       h.source_dated_until,
       h.has_views, t.search_path
FROM daybook.history AS h
JOIN daybook.target AS t ON t.target = h.target
WHERE daybook.may_see(h.target);
COMMENT ON VIEW daybook.histories IS 'Registered histories';
COMMENT ON COLUMN daybook.histories.source IS 'The relation it reads, by name; null: each call brings its own';
COMMENT ON COLUMN daybook.histories.target IS 'The history table';
COMMENT ON COLUMN daybook.histories.keys IS 'The columns that make two rows versions of one record';
COMMENT ON COLUMN daybook.histories.historize_blacklist IS 'Columns that are stored but make no difference';
COMMENT ON COLUMN daybook.histories.historize_whitelist IS 'The only columns that make a difference';
COMMENT ON COLUMN daybook.histories.time_axis_unit IS 'The gap between the end of a version and the begin of the next; 0: validity is half-open';
COMMENT ON COLUMN daybook.histories.zone IS 'Zone in which technical and source columns without time zone are read';
COMMENT ON COLUMN daybook.histories.check_input_unique IS 'Whether a key may stand but once in an input';
COMMENT ON COLUMN daybook.histories.dedup_order_by IS 'Order in which the first row of a key is kept';
COMMENT ON COLUMN daybook.histories.source_timestamp_column IS 'Source column that says since when a row is as it is';
COMMENT ON COLUMN daybook.histories.existing_predicate IS 'Which current versions are compared, and closed where their key is missing';
COMMENT ON COLUMN daybook.histories.cdc_column IS 'Source column that says what happened to a row';
COMMENT ON COLUMN daybook.histories.cdc_deleted_value IS 'Its value for a deleted row';
COMMENT ON COLUMN daybook.histories.cdc_auto_detect IS 'Whether a source with _change_type is taken for change events';
COMMENT ON COLUMN daybook.histories.cdc_timestamp_auto_detect IS 'Whether such events are dated by _commit_timestamp';
COMMENT ON COLUMN daybook.histories.skip_unchanged IS 'Whether an event that changes nothing makes no version';
COMMENT ON COLUMN daybook.histories.intermediate_versions IS 'Whether each event of a batch makes a version, or the last of a key';
COMMENT ON COLUMN daybook.histories.delivery IS 'What an input promises: full (absent means deleted) or delta (absent means unchanged)';
COMMENT ON COLUMN daybook.histories.delivery_scope IS 'Columns by whose delivered values full delivery is limited';
COMMENT ON COLUMN daybook.histories.late IS 'What becomes of rows whose time lies before what is known: delay, insert, ignore or error';
COMMENT ON COLUMN daybook.histories.ignore_old_deleted_columns IS 'Whether columns that the source no longer has are dropped';
COMMENT ON COLUMN daybook.histories.ignore_old_deleted_nested_columns IS 'True: composite types change by ALTER TYPE, for source and target at once';
COMMENT ON COLUMN daybook.histories.on_empty IS 'What an empty input does: error, skip or close; null: error where it would close everything, else skip';
COMMENT ON COLUMN daybook.histories.max_closed_percent IS 'How many percent of the current versions a run may close without a successor';
COMMENT ON COLUMN daybook.histories.captured_column IS 'Column that says from when a version is valid';
COMMENT ON COLUMN daybook.histories.delimited_column IS 'Column that says until when a version is valid';
COMMENT ON COLUMN daybook.histories.hash_column IS 'Column for the fingerprint of a version';
COMMENT ON COLUMN daybook.histories.upper_horizon IS 'Valid-to of current versions: a time (UTC where the column has a zone), infinity or null';
COMMENT ON COLUMN daybook.histories.newest IS 'Newest instant at which a version began or ended: UTC, or local where the technical columns have no zone';
COMMENT ON COLUMN daybook.histories.source_dated_until IS 'Newest reference of a run that wrote versions dated by the source, likewise';
COMMENT ON COLUMN daybook.histories.has_views IS 'Whether create_history_views made views, which follow when columns change';
COMMENT ON COLUMN daybook.histories.search_path IS 'Schemas in which registered SQL finds its names';

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
       r.rules_version, r.rows_read, r.rows_dropped, r.rows_deleted, r.rows_inserted,
       r.mode, r.reference_timestamp, r.versions_opened, r.versions_closed, r.versions_withdrawn, r.versions_reopened,
       r.rows_unchanged, r.reappeared, r.late_rows, r.dropped_by, r.called_by, r.started_at, r.finished_at, r.sqlstate,
       CASE WHEN coalesce(pg_catalog.has_table_privilege(r.target, 'SELECT'), true) THEN r.error END AS error
FROM daybook.run AS r
WHERE daybook.may_see(r.target);
COMMENT ON VIEW daybook.runs IS 'The log of runs, one row per call';
COMMENT ON COLUMN daybook.runs.run_id IS 'Number of the run';
COMMENT ON COLUMN daybook.runs.target IS 'The table that was written; null once it is dropped';
COMMENT ON COLUMN daybook.runs.target_name IS 'Its name at the time of the run';
COMMENT ON COLUMN daybook.runs.function IS 'The function that was called';
COMMENT ON COLUMN daybook.runs.status IS 'loaded, unchanged (a history that needed no new version), skipped (there was nothing to load), or failed (with on_error => ''report'')';
COMMENT ON COLUMN daybook.runs.interval_start IS 'Start of the interval that was asked for';
COMMENT ON COLUMN daybook.runs.interval_end IS 'End of the interval that was asked for, exclusive';
COMMENT ON COLUMN daybook.runs.wide IS 'One delete and insert for all intervals, or one for each';
COMMENT ON COLUMN daybook.runs.params IS 'Parameters of the call';
COMMENT ON COLUMN daybook.runs.rules_version IS 'Version of the rules that were applied';
COMMENT ON COLUMN daybook.runs.rows_read IS 'Rows read from the source';
COMMENT ON COLUMN daybook.runs.rows_dropped IS 'Rows that filters, or the choice of one row per key, dropped';
COMMENT ON COLUMN daybook.runs.rows_deleted IS 'Rows deleted from the target';
COMMENT ON COLUMN daybook.runs.rows_inserted IS 'Rows inserted into the target';
COMMENT ON COLUMN daybook.runs.mode IS 'How a run of a history took its input: snapshot or events';
COMMENT ON COLUMN daybook.runs.reference_timestamp IS 'The instant from which the versions of a history are valid that no source dates';
COMMENT ON COLUMN daybook.runs.versions_opened IS 'Versions that a run of a history wrote';
COMMENT ON COLUMN daybook.runs.versions_closed IS 'Versions that it ended';
COMMENT ON COLUMN daybook.runs.versions_withdrawn IS 'Versions that it took back, because they began at its own reference timestamp or because it rewound';
COMMENT ON COLUMN daybook.runs.versions_reopened IS 'Versions that it made current again';
COMMENT ON COLUMN daybook.runs.rows_unchanged IS 'Rows that changed nothing';
COMMENT ON COLUMN daybook.runs.reappeared IS 'Versions of records that had ended before';
COMMENT ON COLUMN daybook.runs.late_rows IS 'Rows whose time lay before what was known';
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
