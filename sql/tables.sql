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
    status          text NOT NULL CHECK (status IN ('loaded', 'skipped', 'failed')),
    interval_start  timestamptz,
    interval_end    timestamptz,
    wide            boolean NOT NULL,
    params          jsonb NOT NULL,
    rules_version   text,
    rows_read       bigint NOT NULL DEFAULT 0,
    rows_dropped    bigint NOT NULL DEFAULT 0,
    rows_deleted    bigint NOT NULL DEFAULT 0,
    rows_inserted   bigint NOT NULL DEFAULT 0,
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
COMMENT ON COLUMN daybook.run.status IS 'loaded, skipped (there was nothing to load), or failed (with on_error => ''report'')';
COMMENT ON COLUMN daybook.run.interval_start IS 'Start of the interval that was asked for';
COMMENT ON COLUMN daybook.run.interval_end IS 'End of the interval that was asked for, exclusive';
COMMENT ON COLUMN daybook.run.wide IS 'One delete and insert for all intervals, or one for each';
COMMENT ON COLUMN daybook.run.params IS 'Parameters of the call';
COMMENT ON COLUMN daybook.run.rules_version IS 'Version of the rules that were applied';
COMMENT ON COLUMN daybook.run.rows_read IS 'Rows read from the source';
COMMENT ON COLUMN daybook.run.rows_dropped IS 'Rows that filters, or the choice of one row per key, dropped';
COMMENT ON COLUMN daybook.run.rows_deleted IS 'Rows deleted from the target';
COMMENT ON COLUMN daybook.run.rows_inserted IS 'Rows inserted into the target';
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
