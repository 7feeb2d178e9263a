-- Counts the rows that are read, all of which are kept: they need a fence as those of intake_step do. That something is not NULL
-- the planner takes for true of nearly every row.
-- $7 the number of the run.
SELECT *
FROM (
{rows}
OFFSET 0
) AS source
WHERE daybook.tally($7, 0, source.{number}, true) IS NOT NULL
