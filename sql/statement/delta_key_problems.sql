-- Keys that are NULL or stand twice within a grain interval, the first ten.
SELECT pg_catalog.jsonb_build_object(
           'nulls', pg_catalog.count(*) FILTER (WHERE problem.has_null),
           'duplicates', pg_catalog.count(*) FILTER (WHERE NOT problem.has_null),
           'samples', (pg_catalog.array_agg(problem.sample ORDER BY problem.sample))[1:10])
FROM (
    SELECT {any_key_null} AS has_null,
           pg_catalog.format('%s, %s times', pg_catalog.jsonb_build_object({key_pairs}), pg_catalog.count(*)) AS sample
    FROM {delta} AS source
    GROUP BY source.{number}, {keys}
    HAVING pg_catalog.count(*) > 1 OR {any_key_null}
) AS problem
HAVING pg_catalog.count(*) > 0
