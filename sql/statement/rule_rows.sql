-- The rows of a source as the first rule sees them. Only parsed, never run.
SELECT {columns}, 1 AS {number}
FROM {source} AS source
