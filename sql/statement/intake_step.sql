-- Counts the rows that a step keeps, and keeps them: the read itself keeps all, a filter those for which it is true.
-- $7 the number of the run.
SELECT *
FROM (
{rows}
) AS source
WHERE daybook.tally($7, {step}, source.{number}, {kept})
OFFSET 0
