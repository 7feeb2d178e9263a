-- The rows of the source that lie in the interval, each with the number of its grain interval (from 1).
-- $1, $2 first and last bound, in the type of the time column; $3 all bounds, as an array.
SELECT {columns},
       pg_catalog.width_bucket(source.{time}, $3) AS {number}
FROM {source} AS source
WHERE source.{time} OPERATOR(pg_catalog.>=) $1
  AND source.{time} OPERATOR(pg_catalog.<) $2
