-- Keys that are NULL or were delivered twice, among the rows that begin a version: how many, and the first ten of each kind.
SELECT jsonb_build_object(
           'nulls', count(*) FILTER (WHERE problem.has_null),
           'duplicates', count(*) FILTER (WHERE NOT problem.has_null),
           'null_samples', coalesce((array_agg(problem.sample ORDER BY problem.sample)
                                     FILTER (WHERE problem.has_null))[1:10], ARRAY[]::text[]),
           'duplicate_samples', coalesce((array_agg(problem.sample ORDER BY problem.sample)
                                          FILTER (WHERE NOT problem.has_null))[1:10], ARRAY[]::text[]))
FROM (
    SELECT {any_key_null} AS has_null, format('%s: %s', {key_document}, count(*)) AS sample
    FROM {actions} AS action
    WHERE action.what IN ('open', 'reopen', 'duplicate')
    GROUP BY {keys}, action.what = 'duplicate'
    HAVING count(*) > 1 OR {any_key_null}
) AS problem
HAVING count(*) > 0
