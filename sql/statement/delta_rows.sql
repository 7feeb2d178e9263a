-- The rows that were read once, of the grain intervals from $9 to $10, which are numbered from 1 here.
SELECT {columns}, source.{number} OPERATOR(pg_catalog.-) $9 OPERATOR(pg_catalog.+) 1 AS {number}
FROM {delta} AS source
WHERE source.{number} OPERATOR(pg_catalog.>=) $9
  AND source.{number} OPERATOR(pg_catalog.<=) $10
