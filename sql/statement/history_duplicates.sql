-- Keys that the source delivers more than once: how many, and the first ten. Reads it again, on the way to an error.
SELECT jsonb_build_object(
           'nulls', 0,
           'duplicates', pg_catalog.count(*),
           'null_samples', ARRAY[]::pg_catalog.text[],
           'duplicate_samples', (pg_catalog.array_agg(problem.sample ORDER BY problem.sample))[1:10])
FROM (
    SELECT pg_catalog.format('%s: %s', {key_document}, pg_catalog.count(*)) AS sample
    FROM {delivered} AS action
    GROUP BY {keys}
    HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1
) AS problem
HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0
