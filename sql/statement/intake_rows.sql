-- All rows of a source; each belongs to the grain interval 1.
SELECT {columns}, 1 AS {number}
FROM {source} AS source
