-- The members of dedup_order_by over the rows that it orders. Only parsed, never run.
SELECT true
FROM (
{rows}
) AS source
ORDER BY {order}
