-- The newest instant at which a version began or ended, in microseconds since 2000-01-01. Reads the whole table.
-- $2 the unit of the time axis.
SELECT pg_catalog.to_jsonb((extract(epoch FROM pg_catalog.max(
           CASE WHEN {is_current} THEN existing.{captured}
                ELSE greatest(existing.{captured}, existing.{delimited} OPERATOR(pg_catalog.+) $2) END)
           OPERATOR(pg_catalog.-) {epoch}) OPERATOR(pg_catalog.*) 1000000)::pg_catalog.int8)
FROM {target} AS existing
