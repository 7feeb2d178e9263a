-- Parameters: param.name in a rule, bound from params, never pasted into text.
\set ECHO none
\getenv abs_srcdir PG_ABS_SRCDIR
\set session '\\i ' :abs_srcdir '/include/session.sql'
:session
SET client_min_messages = warning;
CREATE TABLE src (id integer, kind text, amount numeric, flag boolean, at timestamptz);
INSERT INTO src VALUES (1, 'a', 10, true, '2026-09-01 01:00+00'), (2, 'b', 20, false, '2026-09-01 02:00+00'), (3, 'it''s', 30, NULL, '2026-09-01 03:00+00');
CREATE TABLE fact (id integer, kind text, amount numeric, flag boolean, at timestamptz, interval_start timestamptz);
SELECT register_load('fact', 'src', 'at');
CREATE FUNCTION run(params jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM load_interval('fact', '2026-09-01', '2026-09-02', params => params, as_of => '2026-09-03 00:00+00');
    RETURN (SELECT coalesce(string_agg(id || ':' || coalesce(kind, '-') || ':' || coalesce(amount::text, '-'), ' ' ORDER BY id), 'nothing') FROM fact);
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- Text, numeric, boolean, jsonb, null, as the JSON value is.
SELECT register_rule('fact', 'r', filter => 'kind = param.kind');
SELECT run('{"kind": "a"}'), run('{"kind": "it''s"}'), run('{"kind": "x'' or true --"}'), run('{"kind": null}');
SELECT run('{}'), run('{"Kind": "a"}'), run('{"kind": {"a": 1}}');
SELECT register_rule('fact', 'r', filter => 'amount >= param.least');
SELECT run('{"least": 20}'), run('{"least": 1.5e1}'), run('{"least": 20.000000000000000000000000000001}'), run('{"least": 12345678901234567890.5}'), run('{"least": -1e100}'), run('{"least": "20"}');
SELECT register_rule('fact', 'r', filter => 'amount >= param.least::numeric');
SELECT run('{"least": "20"}'), run('{"least": 20}'), run('{"least": "abc"}');
SELECT register_rule('fact', 'r', filter => 'flag is not distinct from param.flag');
SELECT run('{"flag": true}'), run('{"flag": false}');
SELECT register_rule('fact', 'r', filter => 'flag = param.flag or (param.flag is null and flag is null)');
SELECT run('{"flag": true}');
SELECT register_rule('fact', 'r', filter => 'param.ids @> to_jsonb(id)');
SELECT run('{"ids": [1, 3]}'), run('{"ids": []}'), run('{"ids": {"a": 1}}');
SELECT register_rule('fact', 'r', filter => 'at >= param.since::timestamptz');
SELECT run('{"since": "2026-09-01 02:00+00"}'), run('{"since": "2026-09-01 02:00"}');
-- Used twice, in several rules, in subqueries, with odd names; what looks like one in a string or as a column is none.
SELECT register_rule('fact', 'r', filter => $$id in (select s.id from src as s where s.amount >= param.least and s.amount < param."Up to ""it""") and kind <> 'param.least'$$);
SELECT register_rule('fact', 'set', column_name => 'kind', expression => $$kind || '/' || param.least$$);
SELECT run('{"least": 10, "Up to \"it\"": 30}'), run('{"least": 20, "Up to \"it\"": 30, "more": 1}');
SELECT register_rule('fact', 'r', filter => 'param.least > 0 and param . least < 100 and "param"."least" > 0');
SELECT run('{"least": 1}');
SELECT unregister_rule('fact', 'r');
-- A parameter that alone makes a column.
SELECT register_rule('fact', 'set', column_name => 'kind', expression => 'param.kind');
SELECT run('{"kind": "new"}'), run('{"kind": 5}'), run('{"kind": true}'), run('{"kind": null}');
SELECT register_rule('fact', 'set', column_name => 'amount', expression => 'param.amount::numeric * 2');
SELECT run('{"amount": 4}'), run('{"amount": "4"}'), run('{"amount": null}');
SELECT unregister_rule('fact', 'set');
-- Not a parameter: deeper names, a call, comments inside.
SELECT register_rule('fact', 'r', filter => 'param.kind.more = 1'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'param = 1'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'param.*'); :sqlstate
SELECT register_rule('fact', 'r', filter => 'kind = param/* */.kind'); :sqlstate
-- Parameters that no rule uses do no harm, and all are kept in the log; the rules version does not depend on them.
SELECT register_rule('fact', 'r', filter => 'amount >= param.least');
SELECT run('{"least": 1, "nested": {"b": [1, 2], "a": null}}');
SELECT params FROM daybook.runs ORDER BY run_id DESC LIMIT 1;
SELECT count(DISTINCT rules_version) FROM (SELECT rules_version FROM daybook.runs ORDER BY run_id DESC LIMIT 1) AS r;
SELECT run('{"least": 2}');
SELECT count(DISTINCT rules_version) FROM (SELECT rules_version FROM daybook.runs ORDER BY run_id DESC LIMIT 2) AS r;
-- A missing one is missed before anything is written, in a dry run and in explain_load too.
SELECT * FROM load_interval('fact', '2026-09-01', '2026-09-02', dry_run => true, as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT * FROM daybook.explain_load('fact', '2026-09-01', '2026-09-02', as_of => '2026-09-03 00:00+00'); :sqlstate
SELECT count(*) FROM fact;
-- explain_load shows them as parameters, not in the text.
SELECT step, statement LIKE '%12345%' AS in_text, parameters ->> '$9' AS least
FROM daybook.explain_load('fact', '2026-09-01', '2026-09-02', params => '{"least": 12345}', as_of => '2026-09-03 00:00+00'); :sqlstate
-- A column named param wins where it is written alone.
ALTER TABLE src ADD COLUMN param text DEFAULT 'column';
ALTER TABLE fact ADD COLUMN param text;
SELECT register_rule('fact', 'r', filter => $$param = 'column' and source.param = 'column' and param.least = 1$$);
SELECT run('{"least": 1}');
