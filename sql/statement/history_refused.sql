-- Why actions are refused: the first ten of each kind.
SELECT jsonb_agg(jsonb_build_object('what', refused.what, 'count', refused.count, 'samples', refused.samples))
FROM (
    SELECT found.what, count(*) AS count, (array_agg(found.sample ORDER BY found.sample))[1:10] AS samples
    FROM (
        SELECT action.what,
               CASE action.what
                    WHEN 'outside' THEN format('%s since %s', {key_document}, action.began)
                    WHEN 'tie' THEN format('%s at %s', {key_document}, action.valid_from)
                    WHEN 'late' THEN format('%s at %s', {key_document}, action.valid_from)
                    ELSE format('%s at %s, beside %s', {key_document}, action.valid_from, coalesce(action.began::text, 'another'))
               END AS sample
        FROM {actions} AS action
        WHERE action.what IN ('near', 'outside', 'late', 'tie')
    ) AS found
    GROUP BY found.what
) AS refused
