-- How many versions still begin after an instant, or ended by something after it.
-- $1 the instant; $2 the unit of the time axis.
SELECT pg_catalog.to_jsonb(pg_catalog.count(*))
FROM {target} AS existing
WHERE existing.{captured} OPERATOR(pg_catalog.>) $1
   OR ({not_current} AND (existing.{delimited} OPERATOR(pg_catalog.+) $2) OPERATOR(pg_catalog.>) $1)
