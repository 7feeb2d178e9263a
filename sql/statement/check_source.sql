-- Source rows that belong to no interval, because they have no time.
SELECT pg_catalog.to_jsonb(pg_catalog.count(*))
FROM {source} AS source
WHERE source.{time} IS NULL
