-- The rows with one column set by a rule. Over another rule of its kind it needs a fence: the planner would put that one's
-- expression into each use of its column in this one, and so on down a chain.
SELECT {others}, {expression} AS {column}
FROM (
{rows}
{fence}
) AS source
