-- Rows of a target that no run owns, by problem and stamp.
-- $1 bounds in the type of the time column, over all times and stamps of the target; $2 stamps.
SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
           'problem', found.problem, 'stamp', found.stamp, 'rows', found.rows, 'detail', found.detail)
       ORDER BY found.problem, found.stamp)
FROM (
    SELECT judged.problem, judged.stamp::pg_catalog.text AS stamp, pg_catalog.count(*) AS rows,
           pg_catalog.format('row times from %s to %s', pg_catalog.min(judged.at), pg_catalog.max(judged.at)) AS detail
    FROM (
        SELECT target.{stamp} AS stamp, target.{time} AS at,
               CASE WHEN target.{stamp} IS NULL THEN 'stamp is null'
                    WHEN target.{time} IS NULL THEN 'time is null'
                    WHEN target.{stamp} OPERATOR(pg_catalog.=) ($2)[pg_catalog.width_bucket(target.{time}, $1)] THEN NULL
                    WHEN target.{stamp} OPERATOR(pg_catalog.=) ($2)[pg_catalog.width_bucket(target.{stamp}, $2)]
                        THEN 'stamp of another interval'
                    ELSE 'stamp off the grain' END AS problem
        FROM {target} AS target
    ) AS judged
    WHERE judged.problem IS NOT NULL
    GROUP BY judged.problem, judged.stamp
) AS found
