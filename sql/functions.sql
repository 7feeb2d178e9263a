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

CREATE FUNCTION @extschema@.register_history(
    dst                               text,
    src                               regclass,
    pk                                daybook.column_list,
    historize_blacklist               daybook.column_list default null,
    historize_whitelist               daybook.column_list default null,
    time_axis_unit                    interval default null,
    zone                              text default 'UTC',
    check_input_unique                boolean default true,
    dedup_order_by                    text default null,
    source_timestamp_column           name default null,
    existing_predicate                text default null,
    cdc_column                        name default null,
    cdc_deleted_value                 text default null,
    cdc_auto_detect                   boolean default true,
    cdc_timestamp_auto_detect         boolean default true,
    skip_unchanged                    boolean default false,
    intermediate_versions             boolean default false,
    delivery                          text default 'full',
    delivery_scope                    daybook.column_list default null,
    late                              text default 'delay',
    ignore_old_deleted_columns        boolean default false,
    ignore_old_deleted_nested_columns boolean default true,
    on_empty                          text default null,
    max_closed_percent                numeric default null
) RETURNS void
    AS 'MODULE_PATHNAME', 'register_history_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.register_history(text, regclass, daybook.column_list, daybook.column_list, daybook.column_list, interval, text, boolean, text, name, text, name, text, boolean, boolean, boolean, boolean, text, daybook.column_list, text, boolean, boolean, text, numeric) IS
    'Registers, or changes, a history: the table that keeps every version of every record of a source; makes the table if there is none';

CREATE FUNCTION @extschema@.unregister_history(dst regclass) RETURNS void
    AS 'MODULE_PATHNAME', 'unregister_history_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.unregister_history(regclass) IS
    'Forgets a history; its table, its rules and its views stay';

CREATE FUNCTION @extschema@.historize(
    dst                  regclass,
    reference_timestamp  timestamptz default null,
    params               jsonb default '{}',
    dry_run              boolean default false,
    on_error             text default 'raise',
    OUT run_id           bigint,
    OUT status           text,
    OUT mode             text,
    OUT rows_read        bigint,
    OUT versions_opened  bigint,
    OUT versions_closed  bigint,
    OUT rows_unchanged   bigint,
    OUT reappeared       bigint,
    OUT late_rows        bigint,
    OUT error            text
) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'historize_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION @extschema@.historize(regclass, timestamptz, jsonb, boolean, text) IS
    'Brings a registered history up to what its source holds now: a new version for each record that changed, an end for each that is gone';

CREATE FUNCTION @extschema@.historize(
    src                               regclass,
    dst                               text,
    pk                                daybook.column_list default null,
    historize_blacklist               daybook.column_list default null,
    historize_whitelist               daybook.column_list default null,
    time_axis_unit                    interval default null,
    zone                              text default null,
    check_input_unique                boolean default null,
    dedup_order_by                    text default null,
    source_timestamp_column           name default null,
    existing_predicate                text default null,
    cdc_column                        name default null,
    cdc_deleted_value                 text default null,
    cdc_auto_detect                   boolean default null,
    cdc_timestamp_auto_detect         boolean default null,
    skip_unchanged                    boolean default null,
    intermediate_versions             boolean default null,
    delivery                          text default null,
    delivery_scope                    daybook.column_list default null,
    late                              text default null,
    ignore_old_deleted_columns        boolean default null,
    ignore_old_deleted_nested_columns boolean default null,
    on_empty                          text default null,
    max_closed_percent                numeric default null,
    reference_timestamp               timestamptz default null,
    params                            jsonb default '{}',
    dry_run                           boolean default false,
    on_error                          text default 'raise',
    OUT run_id           bigint,
    OUT status           text,
    OUT mode             text,
    OUT rows_read        bigint,
    OUT versions_opened  bigint,
    OUT versions_closed  bigint,
    OUT rows_unchanged   bigint,
    OUT reappeared       bigint,
    OUT late_rows        bigint,
    OUT error            text
) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'historize_from_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION @extschema@.historize(regclass, text, daybook.column_list, daybook.column_list, daybook.column_list, interval, text, boolean, text, name, text, name, text, boolean, boolean, boolean, boolean, text, daybook.column_list, text, boolean, boolean, text, numeric, timestamptz, jsonb, boolean, text) IS
    'Registers a history on the first call for it, and runs it from a source; what is left out of the options is as registered';

CREATE FUNCTION @extschema@.create_history_views(dst regclass) RETURNS void
    AS 'MODULE_PATHNAME', 'create_history_views_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.create_history_views(regclass) IS
    'Makes a view of the current versions of a history, named with _current, and a function of those valid at an instant, named with _as_of';

CREATE FUNCTION @extschema@.rewind_history(
    dst                     regclass,
    to_timestamp            timestamptz,
    dry_run                 boolean default false,
    OUT run_id              bigint,
    OUT status              text,
    OUT versions_withdrawn  bigint,
    OUT versions_reopened   bigint
) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'rewind_history_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION @extschema@.rewind_history(regclass, timestamptz, boolean) IS
    'Takes back what the runs of a history after an instant have done';

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
    AS 'MODULE_PATHNAME', 'daybook_tally' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1;
COMMENT ON FUNCTION daybook.tally(integer, integer, integer, boolean) IS
    'Used inside the statements of a run: counts a row at a step of its grain interval and says whether it is kept';

CREATE FUNCTION daybook.tally_target(run integer, inserted boolean, interval_number integer, foreign_row text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'tally_target_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1;
COMMENT ON FUNCTION daybook.tally_target(integer, boolean, integer, text) IS
    'Used inside the statements of a run: counts a row deleted from or inserted into the target, and notes one that no rerun could write back';

CREATE FUNCTION daybook.check_history(
    dst          regclass,
    OUT problem  text,
    OUT key      jsonb,
    OUT detail   text
) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'check_history_wrapper' LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10;
COMMENT ON FUNCTION daybook.check_history(regclass) IS
    'What is wrong with a history: versions of one key that overlap, two that are current, validity that ends before it begins';

CREATE FUNCTION daybook.same(one anyelement, other anyelement) RETURNS boolean
    AS 'MODULE_PATHNAME', 'daybook_same' LANGUAGE c IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION daybook.same(anyelement, anyelement) IS
    'Whether two values of a type, whichever it is, are stored alike: NULL equals NULL, every NaN every NaN, 1.0 is not 1.00';

CREATE FUNCTION daybook.row_hash(prefix bytea, names text[], "row" record) RETURNS bytea
    AS 'MODULE_PATHNAME', 'daybook_row_hash' LANGUAGE c STABLE PARALLEL SAFE;
COMMENT ON FUNCTION daybook.row_hash(bytea, text[], record) IS
    'The prefix, followed by 128 bits of a blake3 hash over the names and values of a row that are not null';
