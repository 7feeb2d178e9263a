-- Helpers for the tests of history. A history is shown as one line per version: its values, then from..to. Instants are named:
-- T0 is 2024-03-01 04:00 UTC, T1 a day later and so on; T2-1ms is a millisecond before T2; INF is the horizon of the variant.
-- Targets come in variants (see fresh), so that the same steps can be taken on each of them.
\set ECHO none
CREATE TABLE given (variant text, infinity timestamptz, key text, options text);
INSERT INTO given VALUES ('made', '9999-12-31 00:00:00+00', 'id', '');
CREATE FUNCTION t(day integer) RETURNS timestamptz LANGUAGE sql AS $$ SELECT '2024-03-01 04:00+00'::timestamptz + day * interval '24 hours' $$;
CREATE FUNCTION inf() RETURNS timestamptz LANGUAGE sql AS $$ SELECT infinity FROM given $$;

-- The name of an instant.
CREATE FUNCTION named(at timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    day integer; us bigint;
BEGIN
    IF at IS NOT DISTINCT FROM inf() THEN
        RETURN 'INF';
    ELSIF at IS NULL OR NOT isfinite(at) OR at NOT BETWEEN t(-9) AND t(99) THEN
        RETURN coalesce(at::text, 'null');
    END IF;
    day := round(extract(epoch FROM at - t(0)) / 86400);
    us := round(extract(epoch FROM at - t(day)) * 1000000);
    RETURN 'T' || day || CASE WHEN us > 0 THEN '+' WHEN us < 0 THEN '-' ELSE '' END || CASE
        WHEN us = 0 THEN ''
        WHEN us % 3600000000 = 0 THEN abs(us) / 3600000000 || 'h'
        WHEN us % 60000000 = 0 THEN abs(us) / 60000000 || 'm'
        WHEN us % 1000000 = 0 THEN abs(us) / 1000000 || 's'
        WHEN us % 1000 = 0 THEN abs(us) / 1000 || 'ms'
        ELSE abs(us) || 'us' END;
END $$;

-- The versions in h, a line each.
CREATE FUNCTION versions(history text DEFAULT 'h') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    list text;
BEGIN
    SELECT string_agg(format('coalesce(%I::text, ''null'')', attname), ', ' ORDER BY attnum) INTO list FROM pg_attribute
    WHERE attrelid = history::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('dl_ts_captured', 'dl_ts_delimited', 'dl_hash', 'dl_dummy');
    RETURN QUERY EXECUTE format('SELECT concat_ws('' '', %s, named(dl_ts_captured::timestamptz) || ''..'' || named(dl_ts_delimited::timestamptz)) FROM %s', list, history);
END $$;

-- 'ok', or in what two queries differ.
CREATE FUNCTION differences(is_now text, should_be text, label text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'WITH found AS MATERIALIZED (%s), expected AS MATERIALIZED (%s)
         SELECT concat_ws('' '', %L, ''missing:'', CASE to_jsonb(m) ? ''versions'' WHEN true THEN to_jsonb(m) ->> ''versions'' ELSE m::text END) FROM (TABLE expected EXCEPT ALL TABLE found) AS m
         UNION ALL
         SELECT concat_ws('' '', %L, ''unexpected:'', CASE to_jsonb(u) ? ''versions'' WHEN true THEN to_jsonb(u) ->> ''versions'' ELSE u::text END) FROM (TABLE found EXCEPT ALL TABLE expected) AS u
         ORDER BY 1', is_now, should_be, label, label);
    IF NOT FOUND THEN
        RETURN NEXT concat_ws(' ', label, 'ok');
    END IF;
END $$;

-- h holds these versions, no more and no less, and check_history has nothing to say about it.
CREATE FUNCTION holds(label text, VARIADIC rows text[] DEFAULT '{}') RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT * FROM differences('SELECT versions FROM versions()', format('SELECT unnest(%L::text[]) AS versions', rows), label);
    RETURN QUERY SELECT concat_ws(' ', label, 'check_history:', problem, key, detail) FROM daybook.check_history('h');
END $$;

-- A new source and target. The variants: made (by daybook), null (the same, NULL as horizon), taken (as another engine left it: closed
-- intervals of timestamp, an integer hash, a dummy), infinity (timestamp columns and that horizon), by_valid_to and by_key
-- (partitioned), foreign (through postgres_fdw), mixed (partitioned by the key, one partition being foreign).
CREATE PROCEDURE fresh(columns text, key text DEFAULT 'id', options text DEFAULT '', only_source text DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
    v text := (SELECT variant FROM given);
    technical text := 'dl_ts_captured timestamptz, dl_ts_delimited timestamptz, dl_hash bytea';
BEGIN
    UPDATE given SET (key, options) = (SELECT fresh.key, fresh.options);
    IF v = 'foreign' THEN
        DROP FOREIGN TABLE IF EXISTS h;
        DROP TABLE IF EXISTS src, remote.h;
    ELSIF v = 'mixed' THEN
        DROP TABLE IF EXISTS h, src, remote.h_1;
    ELSE
        DROP TABLE IF EXISTS h, src;
    END IF;
    EXECUTE 'CREATE TABLE src (' || concat_ws(', ', columns, only_source) || ')';
    CASE v
        WHEN 'made', 'null' THEN
            EXECUTE format('SELECT register_history(''h'', ''src'', %L%s)', key, ', ' || nullif(options, ''));
        WHEN 'taken' THEN
            EXECUTE format('CREATE TABLE h (%s, dl_ts_captured timestamp, dl_ts_delimited timestamp, dl_hash integer, dl_dummy boolean)', columns);
        WHEN 'infinity' THEN
            EXECUTE format('CREATE TABLE h (%s, dl_ts_captured timestamp, dl_ts_delimited timestamp)', columns);
        WHEN 'by_key' THEN
            EXECUTE format('CREATE TABLE h (%s, %s) PARTITION BY HASH (%s)', columns, technical, split_part(key, ',', 1));
            CREATE TABLE h_0 PARTITION OF h FOR VALUES WITH (MODULUS 3, REMAINDER 0);
            CREATE TABLE h_1 PARTITION OF h FOR VALUES WITH (MODULUS 3, REMAINDER 1);
            CREATE TABLE h_2 PARTITION OF h FOR VALUES WITH (MODULUS 3, REMAINDER 2);
        WHEN 'by_valid_to' THEN
            EXECUTE format('CREATE TABLE h (%s, %s) PARTITION BY RANGE (dl_ts_delimited)', columns, technical);
            CREATE TABLE h_older PARTITION OF h FOR VALUES FROM (MINVALUE) TO ('2024-03-03 04:00+00');
            CREATE TABLE h_old PARTITION OF h FOR VALUES FROM ('2024-03-03 04:00+00') TO ('9999-01-01 00:00+00');
            CREATE TABLE h_now PARTITION OF h FOR VALUES FROM ('9999-01-01 00:00+00') TO (MAXVALUE);
        WHEN 'foreign' THEN
            EXECUTE format('CREATE TABLE remote.h (%s, %s)', columns, technical);
            EXECUTE format('CREATE FOREIGN TABLE h (%s, %s) SERVER loopback OPTIONS (schema_name ''remote'', table_name ''h'')', columns, technical);
        WHEN 'mixed' THEN
            EXECUTE format('CREATE TABLE h (%s, %s) PARTITION BY HASH (%s)', columns, technical, split_part(key, ',', 1));
            CREATE TABLE h_0 PARTITION OF h FOR VALUES WITH (MODULUS 2, REMAINDER 0);
            EXECUTE format('CREATE TABLE remote.h_1 (%s, %s)', columns, technical);
            CREATE FOREIGN TABLE h_1 PARTITION OF h FOR VALUES WITH (MODULUS 2, REMAINDER 1) SERVER loopback OPTIONS (schema_name 'remote', table_name 'h_1');
    END CASE;
END $$;

-- The call of a run. Tables that daybook made are registered by fresh; the others by their first run.
CREATE FUNCTION call(at timestamptz, more text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN variant IN ('made', 'null') THEN format('historize(''h'', reference_timestamp => %L%s)', at, ', ' || more)
                ELSE format('historize(''src'', ''h'', %L, %s reference_timestamp => %L%s)', key, nullif(options, '') || ',', at, ', ' || more) END
    FROM given
$$;
CREATE FUNCTION send(input text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE src;
    IF input <> '' THEN
        EXECUTE 'INSERT INTO src VALUES ' || input;
    END IF;
END $$;
-- Delivers these rows at an instant. What the run says of itself is compared with a list such as 'loaded mode snapshot read 2 opened 1',
-- of which only what is named counts.
CREATE FUNCTION run(label text, at timestamptz, input text, says text DEFAULT NULL, more text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    result jsonb; word text[] := string_to_array(says, ' '); wrong text;
BEGIN
    PERFORM send(input);
    EXECUTE 'SELECT to_jsonb(r) FROM ' || call(at, more) || ' AS r' INTO STRICT result;
    IF word IS NULL THEN
        RETURN;
    END IF;
    SELECT concat_ws(', ', CASE WHEN result ->> 'status' IS DISTINCT FROM word[1] THEN 'status is ' || coalesce(result ->> 'status', 'null') END,
                     string_agg(word[i] || ' is ' || coalesce(is_now, 'null'), ', ' ORDER BY i))
    INTO wrong
    FROM generate_series(2, cardinality(word), 2) AS i,
         LATERAL (SELECT result ->> CASE word[i] WHEN 'read' THEN 'rows_read' WHEN 'opened' THEN 'versions_opened' WHEN 'closed' THEN 'versions_closed'
                                        WHEN 'unchanged' THEN 'rows_unchanged' WHEN 'late' THEN 'late_rows' ELSE word[i] END) AS r (is_now)
    WHERE is_now IS DISTINCT FROM word[i + 1];
    RETURN NEXT concat_ws(' ', label, CASE WHEN wrong = '' THEN 'ok' ELSE 'run: ' || wrong END);
END $$;
-- The same, refused: with this SQLSTATE, words of the message, DETAIL and HINT, and the history as it was.
CREATE FUNCTION refused(label text, at timestamptz, input text, state text, words text DEFAULT '', more text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    before text[]; after text[]; message text; detail text; hint text; result jsonb;
BEGIN
    IF to_regclass('h') IS NOT NULL THEN
        before := ARRAY(SELECT v FROM versions() AS v ORDER BY 1);
    END IF;
    BEGIN
        PERFORM send(input);
        EXECUTE 'SELECT to_jsonb(r) FROM ' || call(at, more) || ' AS r' INTO STRICT result;
        RETURN NEXT concat_ws(' ', label, 'was not refused:', result);
        RETURN;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        IF SQLSTATE <> state OR concat_ws(' ', message, detail, hint) !~ words THEN
            RETURN NEXT concat_ws(' ', label, 'refused otherwise:', SQLSTATE, message, detail, hint);
            RETURN;
        END IF;
    END;
    IF to_regclass('h') IS NOT NULL THEN
        after := ARRAY(SELECT v FROM versions() AS v ORDER BY 1);
    END IF;
    IF before IS DISTINCT FROM after THEN
        RETURN NEXT concat_ws(' ', label, 'refused, but not as before:', after);
    ELSE
        RETURN NEXT concat_ws(' ', label, 'ok');
    END IF;
END $$;
\pset format unaligned
\pset tuples_only on
\set ECHO all
