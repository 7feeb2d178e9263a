-- Counts the rows that arrive at a step, keeps those for which it is true, and counts these.
-- OFFSET 0 is the fence above which rows may be counted: the planner neither moves the count below it nor the filter below an
-- earlier one. The bounds of the interval still reach indexes, partitions and foreign servers.
-- $7 the number of the run.
SELECT *
FROM (
{rows}
OFFSET 0
) AS source
WHERE daybook.tally($7, {step}, source.{number}, {kept})
