-- What is wrong with events, by kind: how many, and the first ten.
SELECT jsonb_agg(jsonb_build_object('problem', found.problem, 'count', found.count, 'samples', found.samples) ORDER BY found.place)
FROM (
    SELECT problem.place, problem.problem, count(*) AS count, (array_agg(problem.sample ORDER BY problem.sample))[1:10] AS samples
    FROM (
        SELECT 1 AS place, 'null key' AS problem, format('%s of type %s', {key_document}, event.type) AS sample
        FROM {events} AS event
        WHERE {any_key_null}
        UNION ALL
        SELECT 2, 'unknown type', format('%s: %s', {key_document}, coalesce(quote_literal(event.type), 'NULL'))
        FROM {events} AS event
        WHERE event.kind IS NULL
        UNION ALL
        SELECT 3, 'no ordinal', format('%s of type %s', {key_document}, event.type)
        FROM {events} AS event
        WHERE event.ordinal IS NULL AND EXISTS (SELECT FROM {events} AS other WHERE other.ordinal IS NOT NULL)
        UNION ALL
        SELECT 4, 'infinite time', format('%s at %s', {key_document}, event.at)
        FROM {events} AS event
        WHERE NOT isfinite(event.at)
        UNION ALL
        SELECT 5, 'tie', format('%s at %s: %s', {key_document}, event.at, string_agg(event.type, ', ' ORDER BY event.type))
        FROM {events} AS event
        WHERE event.kind <> 'before'
        GROUP BY {keys}, event.at, event.sequence
        HAVING count(DISTINCT CASE WHEN event.kind = 'delete' THEN '' ELSE daybook.row_hash('x', {names}, ROW({data})) END) > 1
    ) AS problem
    GROUP BY problem.place, problem.problem
) AS found
