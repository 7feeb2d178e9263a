-- A source of four rows in two days of 2026, and a target for it.
\set ECHO none
CREATE TABLE src (id integer, kind text, amount numeric, at timestamptz);
INSERT INTO src VALUES
    (1, 'a', 10, '2026-09-01 06:00+00'), (2, 'b', 20, '2026-09-01 18:00+00'),
    (3, 'a', 30, '2026-09-02 06:00+00'), (4, 'b', 40, '2026-09-02 18:00+00');
CREATE TABLE fact (id integer, kind text, amount numeric, at timestamptz, interval_start timestamptz NOT NULL, loaded_at timestamptz);
\set ECHO all
