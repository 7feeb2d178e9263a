-- What daybook keeps. Nobody but the extension's owner writes here; everyone reads through the views.
-- There are no foreign keys among them: pg_dump does not tell pg_restore's parallel jobs of these for an extension's tables.
-- Columns hold only types that pg_dump and pg_upgrade carry (regclass follows renames and dumps as a name).

CREATE TABLE daybook.target (
    target       regclass PRIMARY KEY,
    search_path  text NOT NULL,
    calendar     text
);
COMMENT ON TABLE daybook.target IS
    'One row per relation that something is registered for. Loads take it FOR SHARE, everything that changes a registration updates it';
COMMENT ON COLUMN daybook.target.target IS 'The relation written to; follows renames';
COMMENT ON COLUMN daybook.target.search_path IS 'Schemas in which registered SQL finds its names, as they were at registration';
COMMENT ON COLUMN daybook.target.calendar IS 'What the recorded intervals were counted with: grain, zone, origin, time and stamp column';
SELECT pg_catalog.pg_extension_config_dump('daybook.target', '');

CREATE TABLE daybook.load (
    target            regclass PRIMARY KEY,
    source_schema     name NOT NULL,
    source_name       name NOT NULL,
    time_column       name NOT NULL,
    grain             interval NOT NULL,
    zone              text NOT NULL,
    origin            timestamp NOT NULL,
    stamp_column      name NOT NULL,
    loaded_at_column  name NOT NULL,
    keys              name[],
    dedup_order_by    text,
    history_starts    timestamptz,
    settle            interval NOT NULL,
    extra_columns     text NOT NULL CHECK (extra_columns IN ('error', 'ignore'))
);
COMMENT ON TABLE daybook.load IS 'Registered interval loads, one per target; read it through the view daybook.loads';
COMMENT ON COLUMN daybook.load.target IS 'The table that the load writes';
COMMENT ON COLUMN daybook.load.source_schema IS 'Schema of the source; the source is kept by name, so that a rebuilt one goes on working';
COMMENT ON COLUMN daybook.load.source_name IS 'Name of the source within its schema';
COMMENT ON COLUMN daybook.load.time_column IS 'Column of source and target that says when a row happened';
COMMENT ON COLUMN daybook.load.grain IS 'Length of one grain interval';
COMMENT ON COLUMN daybook.load.zone IS 'Time zone in which grains are counted and local bounds are read';
COMMENT ON COLUMN daybook.load.origin IS 'Local instant from which grains are counted';
COMMENT ON COLUMN daybook.load.stamp_column IS 'Target column that holds the start of the row''s grain interval';
COMMENT ON COLUMN daybook.load.loaded_at_column IS 'Target column that is filled with the time of the load, if the target has it';
COMMENT ON COLUMN daybook.load.keys IS 'Columns that are unique within each grain interval, checked on every load; null: not checked';
COMMENT ON COLUMN daybook.load.dedup_order_by IS 'With keys: order in which the first row of a key is kept; null: duplicates are refused';
COMMENT ON COLUMN daybook.load.history_starts IS 'Start of the first interval that is due; null: the first one loaded';
COMMENT ON COLUMN daybook.load.settle IS 'How long after its end an interval counts as closed';
COMMENT ON COLUMN daybook.load.extra_columns IS 'Source columns that the target lacks: error or ignore';
SELECT pg_catalog.pg_extension_config_dump('daybook.load', '');

CREATE TABLE daybook.history (
    target                             regclass PRIMARY KEY,
    source_schema                      name,
    source_name                        name,
    keys                               name[] NOT NULL,
    historize_blacklist                name[],
    historize_whitelist                name[],
    time_axis_unit                     interval NOT NULL,
    zone                               text NOT NULL,
    check_input_unique                 boolean NOT NULL,
    dedup_order_by                     text,
    source_timestamp_column            name,
    existing_predicate                 text,
    cdc_column                         name,
    cdc_deleted_value                  text,
    cdc_auto_detect                    boolean NOT NULL,
    cdc_timestamp_auto_detect          boolean NOT NULL,
    skip_unchanged                     boolean NOT NULL,
    intermediate_versions              boolean NOT NULL,
    delivery                           text NOT NULL CHECK (delivery IN ('full', 'delta')),
    delivery_scope                     name[],
    late                               text NOT NULL CHECK (late IN ('delay', 'insert', 'ignore', 'error')),
    ignore_old_deleted_columns         boolean NOT NULL,
    ignore_old_deleted_nested_columns  boolean NOT NULL,
    on_empty                           text CHECK (on_empty IN ('error', 'skip', 'close')),
    max_closed_percent                 numeric,
    captured_column                    name NOT NULL,
    delimited_column                   name NOT NULL,
    hash_column                        name,
    upper_horizon                      text NOT NULL,
    newest                             timestamp,
    source_dated_until                 timestamp,
    has_views                          boolean NOT NULL DEFAULT false,
    CHECK (ignore_old_deleted_nested_columns),
    CHECK ((source_schema IS NULL) = (source_name IS NULL))
);
COMMENT ON TABLE daybook.history IS 'Registered histories, one per target; read it through the view daybook.histories';
COMMENT ON COLUMN daybook.history.target IS 'The history table';
COMMENT ON COLUMN daybook.history.source_schema IS 'Schema of the source; the source is kept by name, so that a rebuilt one goes on working; null: each call brings its own';
COMMENT ON COLUMN daybook.history.source_name IS 'Name of the source within its schema';
COMMENT ON COLUMN daybook.history.keys IS 'The columns that make two rows versions of one record';
COMMENT ON COLUMN daybook.history.historize_blacklist IS 'Columns that are stored but make no difference';
COMMENT ON COLUMN daybook.history.historize_whitelist IS 'The only columns that make a difference';
COMMENT ON COLUMN daybook.history.time_axis_unit IS 'The gap between the end of a version and the begin of the next; 0: validity is half-open';
COMMENT ON COLUMN daybook.history.zone IS 'Zone in which technical and source columns without time zone are read';
COMMENT ON COLUMN daybook.history.check_input_unique IS 'Whether a key may stand but once in an input';
COMMENT ON COLUMN daybook.history.dedup_order_by IS 'Order in which the first row of a key is kept';
COMMENT ON COLUMN daybook.history.source_timestamp_column IS 'Source column that says since when a row is as it is';
COMMENT ON COLUMN daybook.history.existing_predicate IS 'Which current versions are compared, and closed where their key is missing';
COMMENT ON COLUMN daybook.history.cdc_column IS 'Source column that says what happened to a row';
COMMENT ON COLUMN daybook.history.cdc_deleted_value IS 'Its value for a deleted row';
COMMENT ON COLUMN daybook.history.cdc_auto_detect IS 'Whether a source with _change_type is taken for change events';
COMMENT ON COLUMN daybook.history.cdc_timestamp_auto_detect IS 'Whether such events are dated by _commit_timestamp';
COMMENT ON COLUMN daybook.history.skip_unchanged IS 'Whether an event that changes nothing makes no version';
COMMENT ON COLUMN daybook.history.intermediate_versions IS 'Whether each event of a batch makes a version, or the last of a key';
COMMENT ON COLUMN daybook.history.delivery IS 'What an input promises: full (absent means deleted) or delta (absent means unchanged)';
COMMENT ON COLUMN daybook.history.delivery_scope IS 'Columns by whose delivered values full delivery is limited';
COMMENT ON COLUMN daybook.history.late IS 'What becomes of rows whose time lies before what is known: delay, insert, ignore or error';
COMMENT ON COLUMN daybook.history.ignore_old_deleted_columns IS 'Whether columns that the source no longer has are dropped';
COMMENT ON COLUMN daybook.history.ignore_old_deleted_nested_columns IS 'True: composite types change by ALTER TYPE, for source and target at once';
COMMENT ON COLUMN daybook.history.on_empty IS 'What an empty input does: error, skip or close; null: error where it would close everything, else skip';
COMMENT ON COLUMN daybook.history.max_closed_percent IS 'How many percent of the current versions a run may close without a successor';
COMMENT ON COLUMN daybook.history.captured_column IS 'Column that says from when a version is valid';
COMMENT ON COLUMN daybook.history.delimited_column IS 'Column that says until when a version is valid';
COMMENT ON COLUMN daybook.history.hash_column IS 'Column for the fingerprint of a version';
COMMENT ON COLUMN daybook.history.upper_horizon IS 'Valid-to of current versions: a time (UTC where the column has a zone), infinity or null';
COMMENT ON COLUMN daybook.history.newest IS 'Newest instant at which a version began or ended: UTC, or local where the technical columns have no zone';
COMMENT ON COLUMN daybook.history.source_dated_until IS 'Newest reference of a run that wrote versions dated by the source, likewise';
COMMENT ON COLUMN daybook.history.has_views IS 'Whether create_history_views made views, which follow when columns change';
SELECT pg_catalog.pg_extension_config_dump('daybook.history', '');

CREATE TABLE daybook.rule (
    target       regclass NOT NULL,
    name         text NOT NULL,
    position     integer NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('filter', 'expression')),
    column_name  name,
    expression   text NOT NULL,
    PRIMARY KEY (target, name),
    UNIQUE (target, position) DEFERRABLE,
    CHECK ((kind = 'expression') = (column_name IS NOT NULL))
);
COMMENT ON TABLE daybook.rule IS 'Registered rules, in order, between reading and writing; read them through the view daybook.rules';
COMMENT ON COLUMN daybook.rule.target IS 'The table whose loads apply the rule';
COMMENT ON COLUMN daybook.rule.name IS 'Name of the rule, unique per target';
COMMENT ON COLUMN daybook.rule.position IS 'Place in the order, from 1';
COMMENT ON COLUMN daybook.rule.kind IS 'filter: keep a row only where the expression is true; expression: value of a column';
COMMENT ON COLUMN daybook.rule.column_name IS 'Column that an expression rule sets';
COMMENT ON COLUMN daybook.rule.expression IS 'The SQL expression as it was registered';
SELECT pg_catalog.pg_extension_config_dump('daybook.rule', '');

CREATE TABLE daybook.interval_state (
    target          regclass NOT NULL,
    interval_start  timestamptz NOT NULL,
    interval_end    timestamptz NOT NULL,
    status          text CHECK (status IN ('loaded', 'empty', 'skipped', 'open')),
    run_id          bigint,
    rules_version   text,
    rows_inserted   bigint,
    loaded_at       timestamptz,
    stale_since     timestamptz,
    stale_reason    text,
    PRIMARY KEY (target, interval_start)
) WITH (fillfactor = 70);
COMMENT ON TABLE daybook.interval_state IS
    'What is known of each grain interval, apart from the log, which may be pruned; its rows are the locks that loads take';
COMMENT ON COLUMN daybook.interval_state.target IS 'The table that the interval was loaded into';
COMMENT ON COLUMN daybook.interval_state.interval_start IS 'Start of the grain interval';
COMMENT ON COLUMN daybook.interval_state.interval_end IS 'End of the grain interval, exclusive';
COMMENT ON COLUMN daybook.interval_state.status IS 'How the last run left it: loaded, empty, skipped, or open (loaded before it had closed)';
COMMENT ON COLUMN daybook.interval_state.run_id IS 'The run that last wrote it';
COMMENT ON COLUMN daybook.interval_state.rules_version IS 'Version of the rules that were applied';
COMMENT ON COLUMN daybook.interval_state.rows_inserted IS 'Rows that the last run wrote';
COMMENT ON COLUMN daybook.interval_state.loaded_at IS 'Start of the transaction that last wrote it';
COMMENT ON COLUMN daybook.interval_state.stale_since IS 'When somebody marked it stale; loading it again clears the mark';
COMMENT ON COLUMN daybook.interval_state.stale_reason IS 'Why it was marked stale';
SELECT pg_catalog.pg_extension_config_dump('daybook.interval_state', '');

CREATE TABLE daybook.run (
    run_id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target          regclass,
    target_name     text NOT NULL,
    function        text NOT NULL,
    status          text NOT NULL CHECK (status IN ('loaded', 'unchanged', 'skipped', 'failed')),
    interval_start  timestamptz,
    interval_end    timestamptz,
    wide            boolean,
    mode            text,
    reference_timestamp timestamptz,
    params          jsonb NOT NULL,
    rules_version   text,
    rows_read       bigint NOT NULL DEFAULT 0,
    rows_dropped    bigint NOT NULL DEFAULT 0,
    rows_deleted    bigint NOT NULL DEFAULT 0,
    rows_inserted   bigint NOT NULL DEFAULT 0,
    versions_opened bigint,
    versions_closed bigint,
    versions_withdrawn bigint,
    versions_reopened bigint,
    rows_unchanged bigint,
    reappeared bigint,
    late_rows bigint,
    dropped_by      jsonb NOT NULL DEFAULT '{}',
    called_by       name NOT NULL,
    started_at      timestamptz NOT NULL,
    finished_at     timestamptz NOT NULL,
    sqlstate        text,
    error           text
);
CREATE INDEX run_target ON daybook.run (target, run_id);
COMMENT ON TABLE daybook.run IS 'The log of runs; read it through the view daybook.runs';
COMMENT ON COLUMN daybook.run.run_id IS 'Number of the run';
COMMENT ON COLUMN daybook.run.target IS 'The table that was written; null once it is dropped';
COMMENT ON COLUMN daybook.run.target_name IS 'Its name at the time of the run';
COMMENT ON COLUMN daybook.run.function IS 'The function that was called';
COMMENT ON COLUMN daybook.run.status IS 'loaded, unchanged (a history that needed no new version), skipped (there was nothing to load), or failed (with on_error => ''report'')';
COMMENT ON COLUMN daybook.run.interval_start IS 'Start of the interval that was asked for';
COMMENT ON COLUMN daybook.run.interval_end IS 'End of the interval that was asked for, exclusive';
COMMENT ON COLUMN daybook.run.wide IS 'One delete and insert for all intervals, or one for each';
COMMENT ON COLUMN daybook.run.mode IS 'How a run of a history took its input: snapshot or events';
COMMENT ON COLUMN daybook.run.reference_timestamp IS 'The instant from which the versions of a history are valid that no source dates';
COMMENT ON COLUMN daybook.run.params IS 'Parameters of the call';
COMMENT ON COLUMN daybook.run.rules_version IS 'Version of the rules that were applied';
COMMENT ON COLUMN daybook.run.rows_read IS 'Rows read from the source';
COMMENT ON COLUMN daybook.run.rows_dropped IS 'Rows that filters, or the choice of one row per key, dropped';
COMMENT ON COLUMN daybook.run.rows_deleted IS 'Rows deleted from the target';
COMMENT ON COLUMN daybook.run.rows_inserted IS 'Rows inserted into the target';
COMMENT ON COLUMN daybook.run.versions_opened IS 'Versions that a run of a history wrote';
COMMENT ON COLUMN daybook.run.versions_closed IS 'Versions that it ended';
COMMENT ON COLUMN daybook.run.versions_withdrawn IS 'Versions that it took back, because they began at its own reference timestamp or because it rewound';
COMMENT ON COLUMN daybook.run.versions_reopened IS 'Versions that it made current again';
COMMENT ON COLUMN daybook.run.rows_unchanged IS 'Rows that changed nothing';
COMMENT ON COLUMN daybook.run.reappeared IS 'Versions of records that had ended before';
COMMENT ON COLUMN daybook.run.late_rows IS 'Rows whose time lay before what was known';
COMMENT ON COLUMN daybook.run.dropped_by IS 'Rows dropped, by the name of the rule that dropped them';
COMMENT ON COLUMN daybook.run.called_by IS 'Role that called';
COMMENT ON COLUMN daybook.run.started_at IS 'When the call began';
COMMENT ON COLUMN daybook.run.finished_at IS 'When the call ended, before its commit';
COMMENT ON COLUMN daybook.run.sqlstate IS 'SQLSTATE of the error of a failed run';
COMMENT ON COLUMN daybook.run.error IS 'Message of the error of a failed run';
SELECT pg_catalog.pg_extension_config_dump('daybook.run', '');
SELECT pg_catalog.pg_extension_config_dump('daybook.run_run_id_seq', '');

CREATE TABLE daybook.run_interval (
    run_id          bigint NOT NULL,
    interval_start  timestamptz NOT NULL,
    interval_end    timestamptz NOT NULL,
    status          text NOT NULL,
    rows_read       bigint NOT NULL,
    rows_dropped    bigint NOT NULL,
    rows_deleted    bigint NOT NULL,
    rows_inserted   bigint NOT NULL,
    PRIMARY KEY (run_id, interval_start)
);
COMMENT ON TABLE daybook.run_interval IS 'The log of what each run did to each grain interval; read it through the view daybook.interval_log';
COMMENT ON COLUMN daybook.run_interval.run_id IS 'The run';
COMMENT ON COLUMN daybook.run_interval.interval_start IS 'Start of the grain interval';
COMMENT ON COLUMN daybook.run_interval.interval_end IS 'End of the grain interval, exclusive';
COMMENT ON COLUMN daybook.run_interval.status IS 'loaded, empty, skipped, open or failed';
COMMENT ON COLUMN daybook.run_interval.rows_read IS 'Rows read from the source';
COMMENT ON COLUMN daybook.run_interval.rows_dropped IS 'Rows dropped by filters or by the choice of one row per key';
COMMENT ON COLUMN daybook.run_interval.rows_deleted IS 'Rows deleted from the target';
COMMENT ON COLUMN daybook.run_interval.rows_inserted IS 'Rows inserted into the target';
SELECT pg_catalog.pg_extension_config_dump('daybook.run_interval', '');
