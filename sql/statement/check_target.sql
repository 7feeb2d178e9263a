-- Rows of a target that no run owns, by problem and stamp.
-- $1 the stamps in the target that are starts of a grain interval; $2, $3 where that begins and ends, in the type of the time column.
SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
           'problem', found.problem, 'stamp', found.stamp, 'rows', found.rows, 'detail', found.detail)
       ORDER BY found.problem, found.stamp)
FROM (
    SELECT judged.problem, judged.stamp::pg_catalog.text AS stamp, pg_catalog.count(*) AS rows,
           CASE WHEN pg_catalog.min(judged.at) IS NULL THEN 'rows without a time'
                ELSE pg_catalog.format('row times from %s to %s', pg_catalog.min(judged.at), pg_catalog.max(judged.at)) END AS detail
    FROM (
        SELECT target.{stamp} AS stamp, target.{time} AS at,
               CASE WHEN target.{stamp} IS NULL THEN 'stamp is null'
                    WHEN target.{time} IS NULL THEN 'time is null'
                    WHEN unit.stamp IS NULL THEN 'stamp off the grain'
                    WHEN target.{time} OPERATOR(pg_catalog.>=) unit.start
                     AND target.{time} OPERATOR(pg_catalog.<) unit.stop THEN NULL
                    ELSE 'stamp of another interval' END AS problem
        FROM {target} AS target
        LEFT JOIN ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2), pg_catalog.unnest($3)) AS unit (stamp, start, stop)
            ON unit.stamp OPERATOR(pg_catalog.=) target.{stamp}
    ) AS judged
    WHERE judged.problem IS NOT NULL
    GROUP BY judged.problem, judged.stamp
) AS found
