-- The first row of each key within its grain interval. By rank, rows that tie for it all stay, to be refused as duplicates; by
-- row_number, one does.
-- $7 the number of the run.
SELECT {columns}
FROM (
SELECT source.*,
       pg_catalog.{ranked}() OVER (PARTITION BY source.{number}, {keys} ORDER BY {order}) AS {rank}
FROM (
{rows}
) AS source
OFFSET 0
) AS source
WHERE daybook.tally($7, {step}, source.{number}, source.{rank} OPERATOR(pg_catalog.=) 1)
