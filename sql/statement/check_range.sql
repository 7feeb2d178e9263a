-- The first and last instant that a target's time and stamp columns hold, in microseconds since 2000-01-01. Times without a zone are
-- read in the load's, which is the session's while this runs.
SELECT CASE WHEN pg_catalog.count(seen.at) OPERATOR(pg_catalog.>) 0 THEN pg_catalog.jsonb_build_array(
           (extract(epoch FROM pg_catalog.min(seen.at)) OPERATOR(pg_catalog.*) 1000000)::pg_catalog.int8
               OPERATOR(pg_catalog.-) 946684800000000,
           (extract(epoch FROM pg_catalog.max(seen.at)) OPERATOR(pg_catalog.*) 1000000)::pg_catalog.int8
               OPERATOR(pg_catalog.-) 946684800000000) END
FROM {target} AS target
CROSS JOIN LATERAL (VALUES (target.{time}::pg_catalog.timestamptz), (target.{stamp}::pg_catalog.timestamptz)) AS seen (at)
WHERE pg_catalog.isfinite(seen.at)
