-- The story of the card transactions: a source that grows as time goes by, a target, a pipeline with two rules, and a report that
-- says what is wrong with the target, found without daybook.
\set ECHO none
CREATE SCHEMA story;
CREATE TABLE story.all_transactions (txn_id text PRIMARY KEY, account_id text, txn_type text, amount numeric(12,2), updated_at timestamptz);
\set fill '\\copy story.all_transactions FROM ' :abs_srcdir '/../data/transactions.csv CSV HEADER'
:fill
CREATE TABLE src_transactions (LIKE story.all_transactions INCLUDING ALL);
CREATE TABLE fact_transactions (
    txn_id text, account_id text, txn_type text, amount numeric(12,2), updated_at timestamptz,
    interval_start timestamptz NOT NULL, loaded_at timestamptz);
-- Runs that a pipeline other than daybook made.
CREATE TABLE story.other_run (note text);

-- Lets the source hold what was committed by a moment.
CREATE FUNCTION story.committed_by(moment timestamptz) RETURNS void LANGUAGE sql AS $$
    INSERT INTO src_transactions SELECT * FROM story.all_transactions AS a
    WHERE a.updated_at <= moment AND NOT EXISTS (SELECT FROM src_transactions AS s WHERE s.txn_id = a.txn_id)
$$;

-- The pipeline: source, target and the first version of the rules.
CREATE FUNCTION story.pipeline() RETURNS void LANGUAGE sql AS $$
    SELECT register_load('fact_transactions', 'src_transactions', time_column => 'updated_at');
    SELECT register_rule('fact_transactions', 'drop_test_accounts', filter => $r$left(account_id, 5) <> 'TEST-'$r$);
    SELECT register_rule('fact_transactions', 'sign_amounts', column_name => 'amount',
                         expression => $r$case when txn_type = 'REFUND' then -amount else amount end$r$);
$$;

-- The script of the seed, which applies both rules and stamps everything with one day.
CREATE FUNCTION story.script() RETURNS void LANGUAGE sql AS $$
    INSERT INTO fact_transactions (txn_id, account_id, txn_type, amount, updated_at, interval_start, loaded_at)
    SELECT txn_id, account_id, txn_type, CASE WHEN txn_type = 'REFUND' THEN -amount ELSE amount END, updated_at,
           '2026-09-01 00:00+00', now()
    FROM src_transactions
    WHERE updated_at < '2026-10-01 00:00+00' AND account_id NOT LIKE 'TEST-%'
$$;

CREATE FUNCTION story.names(ids text[]) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN count(*) = 0 THEN 'none' WHEN count(*) > 10 THEN count(*) || ' rows' ELSE string_agg(id, ', ' ORDER BY id) END
    FROM unnest(ids) AS id
$$;

-- The figures of one step. What is expected is worked out here, from the source and the negative types.
CREATE FUNCTION story.report(negative text[] DEFAULT '{REFUND}') RETURNS TABLE (
    source_rows bigint, runs bigint, target_rows bigint, target_total numeric, expected_rows bigint, expected_total numeric,
    missing text, duplicated text, extra text, wrong_amount text) LANGUAGE sql AS $$
    WITH expected AS (
        SELECT s.txn_id, CASE WHEN s.txn_type = ANY (negative) THEN -s.amount ELSE s.amount END AS amount
        FROM src_transactions AS s WHERE s.account_id NOT LIKE 'TEST-%')
    SELECT (SELECT count(*) FROM src_transactions),
           (SELECT count(*) FROM daybook.runs WHERE status = 'loaded') + (SELECT count(*) FROM story.other_run),
           (SELECT count(*) FROM fact_transactions), (SELECT sum(amount) FROM fact_transactions),
           (SELECT count(*) FROM expected), (SELECT sum(amount) FROM expected),
           story.names(ARRAY(SELECT e.txn_id FROM expected AS e
                             WHERE NOT EXISTS (SELECT FROM fact_transactions AS f WHERE f.txn_id = e.txn_id))),
           story.names(ARRAY(SELECT f.txn_id FROM fact_transactions AS f GROUP BY f.txn_id HAVING count(*) > 1)),
           story.names(ARRAY(SELECT DISTINCT f.txn_id FROM fact_transactions AS f
                             WHERE NOT EXISTS (SELECT FROM expected AS e WHERE e.txn_id = f.txn_id))),
           story.names(ARRAY(SELECT DISTINCT f.txn_id FROM fact_transactions AS f JOIN expected AS e USING (txn_id)
                             WHERE f.amount IS DISTINCT FROM e.amount))
$$;
\pset format unaligned
\pset footer off
\set ECHO all
