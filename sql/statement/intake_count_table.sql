-- Counts the rows of a table as they are read, all of which are kept. A table has no conditions of its own that the count could come
-- before, so it needs no fence.
-- $7 the number of the run.
SELECT {columns}, 1 AS {number}
FROM {source} AS source
WHERE daybook.tally($7, 0, 1, true) IS NOT NULL
