-- How many current versions there are.
SELECT pg_catalog.to_jsonb(pg_catalog.count(*))
FROM {target} AS existing
WHERE {is_current}{predicate}
