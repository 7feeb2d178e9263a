-- What is wrong with the versions of a history. Only those of which something is wrong are put into words.
-- $2 the unit of the time axis; $3 its tick.
SELECT jsonb_agg(jsonb_build_object('problem', found.problem, 'key', found.key, 'detail', found.detail)
       ORDER BY found.problem, found.key::text, found.detail)
FROM (
    SELECT {key_document} AS key, problem.problem, problem.detail
    FROM (
        SELECT version.*
        FROM (
            SELECT {keys_named}, existing.{captured} AS began, existing.{delimited} AS ended, {is_current} AS is_current,
                   lag(existing.{captured}) OVER versions AS former_began, lag(existing.{delimited}) OVER versions AS former_ended,
                   lag({is_current}) OVER versions AS former_is_current,
                   count(*) FILTER (WHERE {is_current}) OVER (PARTITION BY {keys}) AS current_versions
            FROM {target} AS existing
            WINDOW versions AS (PARTITION BY {keys} ORDER BY existing.{captured}, existing.{delimited})
        ) AS version
        WHERE {any_key_null}
           OR version.began IS NULL
           OR (version.ended IS NULL AND NOT coalesce(version.is_current, false))
           OR version.current_versions > 1
           OR (NOT version.is_current AND (version.ended < version.began + $3 - $2 OR version.ended > {horizon}))
           OR version.former_began = version.began
           OR version.former_is_current
           OR version.former_ended + $2 > version.began
        OFFSET 0
    ) AS version
    CROSS JOIN LATERAL (VALUES
        (CASE WHEN {any_key_null} THEN 'null in key' END, format('valid from %s', version.began)),
        (CASE WHEN version.began IS NULL OR (version.ended IS NULL AND NOT coalesce(version.is_current, false)) THEN 'null in validity' END,
         format('from %s to %s', coalesce(version.began::text, 'null'), coalesce(version.ended::text, 'null'))),
        (CASE WHEN version.is_current AND version.current_versions > 1 THEN 'two current versions' END,
         format('one of %s, valid from %s', version.current_versions, version.began)),
        (CASE WHEN NOT version.is_current AND version.ended < version.began + $3 - $2 THEN 'empty or negative validity' END,
         format('from %s to %s', version.began, version.ended)),
        (CASE WHEN NOT version.is_current AND version.ended > {horizon} THEN 'beyond the horizon' END,
         format('from %s to %s', version.began, version.ended)),
        (CASE WHEN version.former_began = version.began THEN 'same begin twice' END, format('valid from %s', version.began)),
        (CASE WHEN version.former_began < version.began
                   AND (version.former_is_current OR version.former_ended + $2 > version.began) THEN 'overlap' END,
         format('from %s, while the one before goes on to %s', version.began, coalesce(version.former_ended::text, 'null')))
    ) AS problem (problem, detail)
    WHERE problem.problem IS NOT NULL
) AS found
