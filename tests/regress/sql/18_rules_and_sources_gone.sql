-- Rules can be taken away while the source is missing; texts that become a time only when the rule runs are no way to ask the clock.
\set VERBOSITY default
SET client_min_messages = warning;

CREATE TABLE src (id int, at timestamptz, day text);
CREATE TABLE fact (id int, at timestamptz, day text, interval_start timestamptz);
SELECT register_load('fact', 'src', 'at');
SELECT register_rule('fact', 'positive', filter => 'id > 0');
DROP TABLE src;
SELECT unregister_rule('fact', 'positive');
SELECT count(*) FROM daybook.rules;
SELECT register_rule('fact', 'positive', filter => 'id > 0');
SELECT load_interval('fact', '2026-03-01', '2026-03-02');

CREATE TABLE src (id int, at timestamptz, day text);
SELECT register_rule('fact', 'asks', filter => $$at < 'now'::text::timestamptz$$);
SELECT register_rule('fact', 'asks', filter => $$at::date = ('today'::varchar)::date$$);
-- A word is no clock where it stays a word.
SELECT register_rule('fact', 'word', filter => $$day <> 'today' AND day::text <> 'now'::text$$);
