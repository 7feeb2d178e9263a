-- The rows with one column set by a rule.
SELECT {others}, {expression} AS {column}
FROM (
{rows}
) AS source
