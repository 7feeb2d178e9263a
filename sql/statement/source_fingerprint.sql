-- What a source holds in an interval, in short: the same under two snapshots if nothing was committed between them.
-- $1, $2 first and last bound, in the type of the time column.
SELECT pg_catalog.jsonb_build_array(
           pg_catalog.count(*),
           pg_catalog.sum(pg_catalog.hashtextextended(
               ROW("daybook source".*)::pg_catalog.text, 0)::pg_catalog.numeric))
FROM {source} AS "daybook source"
WHERE "daybook source".{time} OPERATOR(pg_catalog.>=) $1
  AND "daybook source".{time} OPERATOR(pg_catalog.<) $2
