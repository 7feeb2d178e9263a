-- Keys that are NULL or stand twice within a grain interval: how many, and the first ten of each kind.
SELECT pg_catalog.jsonb_build_object(
           'nulls', pg_catalog.count(*) FILTER (WHERE problem.has_null),
           'duplicates', pg_catalog.count(*) FILTER (WHERE NOT problem.has_null),
           'null_samples', coalesce((pg_catalog.array_agg(problem.sample ORDER BY problem.sample)
                                     FILTER (WHERE problem.has_null))[1:10], ARRAY[]::pg_catalog.text[]),
           'duplicate_samples', coalesce((pg_catalog.array_agg(problem.sample ORDER BY problem.sample)
                                          FILTER (WHERE NOT problem.has_null))[1:10], ARRAY[]::pg_catalog.text[]))
FROM (
    SELECT {any_key_null} AS has_null,
           pg_catalog.format('%s: %s', pg_catalog.jsonb_build_object({key_pairs}), pg_catalog.count(*)) AS sample
    FROM {delta} AS source
    GROUP BY source.{number}, {keys}
    HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 OR {any_key_null}
) AS problem
HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0
