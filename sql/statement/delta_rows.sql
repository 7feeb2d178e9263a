-- The rows that were read once, each with the number of its grain interval.
SELECT {columns}, source.{number}
FROM {delta} AS source
