-- What fails a run once rows are read: each with its SQLSTATE, message, DETAIL and HINT. The table stays as it was.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
\set small '\\i ' :abs_srcdir '/include/small.sql'
:small
SELECT register_load('fact', 'src', 'at');
SELECT count(*) FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00');
CREATE TABLE before AS SELECT * FROM fact;

-- Rows that no rerun could write back: another interval's stamp, a stamp off the grain, no time. Rows elsewhere do not matter.
INSERT INTO fact VALUES (90, 'x', 0, '2026-08-31 12:00+00', '2026-09-01 00:00+00');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT interval_start, rows_deleted FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
UPDATE fact SET at = '2026-09-01 12:00+00', interval_start = '2026-09-01 06:00+00' WHERE id = 90;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
UPDATE fact SET at = NULL, interval_start = '2026-09-01 00:00+00' WHERE id = 90;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00'); :sqlstate
-- The end of an interval does not belong to it.
UPDATE fact SET at = '2026-09-02 00:00+00', interval_start = '2026-09-01 00:00+00' WHERE id = 90;
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00'); :sqlstate
-- A row with the right stamp that the source no longer has is deleted: the source rules.
UPDATE fact SET at = '2026-09-01 00:00+00' WHERE id = 90;
SELECT rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate

-- on_empty => 'error'.
SELECT * FROM load_interval('fact', '2026-08-30', '2026-09-02', on_empty => 'error', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-08-01', '2026-09-02', on_empty => 'error', wide => true, as_of => '2026-09-03 00:00+00'); :sqlstate

-- max_deleted_percent.
SELECT register_rule('fact', 'few', filter => 'id in (1, 2, 3)');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', max_deleted_percent => 24.9, as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', max_deleted_percent => 24.9, as_of => '2026-09-03 00:00+00', dry_run => true); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', max_deleted_percent => 0, wide => true, as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT unregister_rule('fact', 'few');

-- Parameters.
SELECT register_rule('fact', 'since', filter => 'amount >= param.least and kind <> param."The kind"');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', params => '{"least": 1, "more": 2}', as_of => '2026-09-03 00:00+00'); :sqlstate
-- One of a JSON kind that does not fit.
\set VERBOSITY sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', params => '{"least": "1", "The kind": "c"}', as_of => '2026-09-03 00:00+00'); :sqlstate
\set VERBOSITY default
SELECT unregister_rule('fact', 'since');

-- Keys.
INSERT INTO src VALUES (1, 'c', 50, '2026-09-01 07:00+00'), (NULL, 'd', 60, '2026-09-02 07:00+00');
SELECT register_load('fact', 'src', 'at', keys => 'id');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', wide => true, as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => 'kind, id', dedup_order_by => 'amount');
SELECT * FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT register_load('fact', 'src', 'at', keys => 'id', dedup_order_by => 'amount > 1');
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT register_load('fact', 'src', 'at');
DELETE FROM src WHERE kind IN ('c', 'd');

-- Errors of the server come through whole.
CREATE FUNCTION story(stmt text) RETURNS TABLE (item text, value text) LANGUAGE plpgsql AS $$
DECLARE
    state text; message text; detail text; hint text; tab text; col text; con text; typ text; sch text;
BEGIN
    EXECUTE stmt;
    RETURN QUERY SELECT 'no error', '';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
        sch = SCHEMA_NAME, tab = TABLE_NAME, col = COLUMN_NAME, con = CONSTRAINT_NAME, typ = PG_DATATYPE_NAME;
    RETURN QUERY SELECT * FROM (VALUES ('state', state), ('message', message), ('detail', detail), ('hint', hint), ('schema', sch),
        ('table', tab), ('column', col), ('constraint', con), ('type', typ)) AS v (item, value) WHERE v.value <> ''
        -- Holds the time of the load.
        AND v.value NOT LIKE 'Failing row contains %';
END $$;
ALTER TABLE fact ADD CONSTRAINT small CHECK (amount < 40) NOT VALID;
SELECT * FROM story($$SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00')$$);
ALTER TABLE fact DROP CONSTRAINT small;
ALTER TABLE fact ALTER COLUMN kind SET NOT NULL;
SELECT register_rule('fact', 'kind', column_name => 'kind', expression => $$nullif(kind, 'b')$$);
SELECT * FROM story($$SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00')$$);
SELECT unregister_rule('fact', 'kind');
ALTER TABLE fact ALTER COLUMN kind DROP NOT NULL;
DELETE FROM fact WHERE id > 2;
CREATE UNIQUE INDEX one_kind ON fact (kind);
SELECT * FROM story($$SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00')$$);
DROP INDEX one_kind;
SELECT rows_deleted, rows_inserted FROM load_interval('fact', '2026-09-02', '2026-09-03', as_of => '2026-09-03 00:00+00');
CREATE TABLE kinds (kind text PRIMARY KEY);
INSERT INTO kinds VALUES ('a');
ALTER TABLE fact ADD CONSTRAINT known FOREIGN KEY (kind) REFERENCES kinds NOT VALID;
SELECT * FROM story($$SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00')$$);
ALTER TABLE fact DROP CONSTRAINT known;
SELECT register_rule('fact', 'divide', column_name => 'amount', expression => $$amount / (id - 3)$$);
SELECT * FROM story($$SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00')$$);
SELECT unregister_rule('fact', 'divide');
CREATE FUNCTION custom(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'ZZ123', MESSAGE = 'my message', DETAIL = 'my detail', HINT = 'my hint', TABLE = 'my table', COLUMN = 'my column';
END $$;
SELECT register_rule('fact', 'custom', column_name => 'id', expression => $$custom(id)$$);
SELECT * FROM story($$SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00')$$);
SELECT unregister_rule('fact', 'custom');

-- A partition that is missing.
CREATE TABLE parts (LIKE fact) PARTITION BY RANGE (at);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2026-09-01 00:00+00') TO ('2026-09-02 00:00+00');
SELECT register_load('parts', 'src', 'at');
SELECT * FROM story($$SELECT * FROM load_interval('parts', '2026-09-01', '2026-09-03', as_of => '2026-09-03 00:00+00')$$);
SELECT count(*) FROM parts;

-- All this has changed nothing.
SELECT count(*) AS rows_that_differ FROM (
    (SELECT id, kind, amount, at, interval_start FROM fact EXCEPT ALL SELECT id, kind, amount, at, interval_start FROM before)
    UNION ALL
    (SELECT id, kind, amount, at, interval_start FROM before EXCEPT ALL SELECT id, kind, amount, at, interval_start FROM fact)) AS d;
SELECT run_id, target_name, status, rows_deleted, rows_inserted FROM daybook.runs ORDER BY run_id;
