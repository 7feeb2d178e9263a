-- The stamps that a target holds, in microseconds since 2000-01-01: instants where the column is timestamptz, local times where it is
-- timestamp or date.
SELECT pg_catalog.jsonb_agg(DISTINCT
           (extract(epoch FROM target.{stamp} OPERATOR(pg_catalog.-) {epoch}) OPERATOR(pg_catalog.*) 1000000)::pg_catalog.int8)
FROM {target} AS target
WHERE pg_catalog.isfinite(target.{stamp})
