-- Takes the registry row of a target for a run of its history, as a change, so that a run whose snapshot is older than the commit of
-- another one fails with 40001. Answers with nothing where another transaction holds it.
-- $1 the target.
UPDATE daybook.target AS t
SET search_path = t.search_path
FROM (SELECT target FROM daybook.target WHERE target = $1 FOR NO KEY UPDATE SKIP LOCKED) AS free
WHERE t.target = free.target
RETURNING 1
