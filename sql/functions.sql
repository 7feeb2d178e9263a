-- The functions. Verbs that move data stand in the schema named at CREATE EXTENSION, what tells about it in daybook.
-- None has a SET clause: it would hide the caller's search_path, in which the arguments' names were resolved, and
-- block commits. The library pins every setting that could change a result itself, after names are resolved.
-- None is STRICT: a NULL for an argument without a default is an error (22004), never a silent nothing.

CREATE FUNCTION @extschema@.register_load(
    target            regclass,
    source            regclass,
    time_column       name,
    grain             interval default '1 day',
    zone              text default 'UTC',
    origin            timestamp default '2001-01-01',
    stamp_column      name default 'interval_start',
    loaded_at_column  name default 'loaded_at',
    keys              daybook.column_list default null,
    dedup_order_by    text default null,
    history_starts    daybook.bound default null,
    settle            interval default '0',
    extra_columns     text default 'error'
) RETURNS void
    AS 'MODULE_PATHNAME', 'register_load_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.register_load(regclass, regclass, name, interval, text, timestamp, name, name, daybook.column_list, text, daybook.bound, interval, text) IS
    'Registers, or changes, the interval load of a target: where it reads from, by which time column, in which grain and zone';

CREATE FUNCTION @extschema@.unregister_load(target regclass) RETURNS void
    AS 'MODULE_PATHNAME', 'unregister_load_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.unregister_load(regclass) IS
    'Forgets the interval load of a target; its rows, its rules and the record of its intervals stay';

CREATE FUNCTION @extschema@.register_rule(
    target       text,
    name         text,
    filter       text default null,
    column_name  name default null,
    expression   text default null,
    before       text default null
) RETURNS void
    AS 'MODULE_PATHNAME', 'register_rule_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.register_rule(text, text, text, name, text, text) IS
    'Registers a step between reading and writing: a filter, or an expression for a column; the same name replaces it in place';

CREATE FUNCTION @extschema@.unregister_rule(target text, name text) RETURNS void
    AS 'MODULE_PATHNAME', 'unregister_rule_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.unregister_rule(text, text) IS 'Forgets a rule of a target';

CREATE FUNCTION @extschema@.load_interval(
    target               regclass,
    interval_start       daybook.bound,
    interval_end         daybook.bound default null,
    wide                 boolean default false,
    params               jsonb default '{}',
    as_of                timestamptz default null,
    allow_open           boolean default false,
    on_empty             text default 'replace',
    max_deleted_percent  numeric default null,
    dry_run              boolean default false,
    on_error             text default 'raise',
    OUT interval_start   timestamptz,
    OUT interval_end     timestamptz,
    OUT status           text,
    OUT rows_read        bigint,
    OUT rows_dropped     bigint,
    OUT rows_deleted     bigint,
    OUT rows_inserted    bigint,
    OUT rules_version    text,
    OUT run_id           bigint,
    OUT error            text
) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'load_interval_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 30;
COMMENT ON FUNCTION @extschema@.load_interval(regclass, daybook.bound, daybook.bound, boolean, jsonb, timestamptz, boolean, text, numeric, boolean, text) IS
    'Replaces the rows of a half-open interval of the target by what its source holds now; one result row per grain interval';

CREATE FUNCTION @extschema@.mark_stale(
    target          regclass,
    interval_start  daybook.bound,
    interval_end    daybook.bound,
    reason          text
) RETURNS bigint
    AS 'MODULE_PATHNAME', 'mark_stale_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.mark_stale(regclass, daybook.bound, daybook.bound, text) IS
    'Marks the loaded intervals between two bounds as in need of a new load, and says how many; loading clears the mark';

CREATE FUNCTION daybook.last_closed(
    target  regclass,
    as_of   timestamptz default null
) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'last_closed_wrapper' LANGUAGE c STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION daybook.last_closed(regclass, timestamptz) IS 'The end of the last grain interval of a load that has closed';

CREATE FUNCTION daybook.explain_load(
    target          regclass,
    interval_start  daybook.bound,
    interval_end    daybook.bound default null,
    wide            boolean default false,
    params          jsonb default '{}',
    as_of           timestamptz default null,
    on_empty        text default 'replace',
    OUT step        integer,
    OUT purpose     text,
    OUT statement   text,
    OUT parameters  jsonb
) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'explain_load_wrapper' LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 5;
COMMENT ON FUNCTION daybook.explain_load(regclass, daybook.bound, daybook.bound, boolean, jsonb, timestamptz, text) IS 'The statements that load_interval would run, with their parameters; nothing is run';

CREATE FUNCTION daybook.check_load(
    target              regclass,
    OUT problem         text,
    OUT interval_start  text,
    OUT row_count       bigint,
    OUT detail          text
) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'check_load_wrapper' LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION daybook.check_load(regclass) IS
    'Rows of a target that no run owns (stamp missing, off the grain, or of another interval), and source rows without a time';

CREATE FUNCTION daybook.grain_boundaries(
    grain           interval,
    zone            text,
    interval_start  daybook.bound,
    interval_end    daybook.bound,
    origin          timestamp default '2001-01-01'
) RETURNS timestamptz[]
    AS 'MODULE_PATHNAME', 'grain_boundaries_wrapper' LANGUAGE c STABLE PARALLEL SAFE;
COMMENT ON FUNCTION daybook.grain_boundaries(interval, text, daybook.bound, daybook.bound, timestamp) IS
    'The boundaries of a grain that lie between two bounds, in order: try a grain, a zone and an origin before registering them';

-- The next two are called by the statements of a run, once a row; anywhere else they raise an error.

CREATE FUNCTION daybook.tally(run integer, step integer, interval_number integer, kept boolean) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tally_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1;
COMMENT ON FUNCTION daybook.tally(integer, integer, integer, boolean) IS
    'Used inside the statements of a run: counts a row at a step of its grain interval and says whether it is kept';

CREATE FUNCTION daybook.tally_target(run integer, inserted boolean, interval_number integer, foreign_row text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tally_target_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1;
COMMENT ON FUNCTION daybook.tally_target(integer, boolean, integer, text) IS
    'Used inside the statements of a run: counts a row deleted from or inserted into the target, and notes one that no rerun could write back';
