-- The expression of a rule over the row that it will see. Only parsed, never run.
SELECT {expression}
FROM (
{rows}
) AS source
