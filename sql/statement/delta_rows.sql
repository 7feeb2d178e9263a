-- The rows that were read once, of the grain intervals from $9 to $10.
SELECT *
FROM {delta} AS source
WHERE source.{number} BETWEEN $9 AND $10
