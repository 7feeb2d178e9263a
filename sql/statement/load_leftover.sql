-- How many rows of an interval are still there after its delete: a BEFORE trigger may have kept some.
-- $5, $6 first stamp and end.
SELECT pg_catalog.to_jsonb(pg_catalog.count(*))
FROM {target} AS target
WHERE target.{stamp} OPERATOR(pg_catalog.>=) $5
  AND target.{stamp} OPERATOR(pg_catalog.<) $6{chosen}
