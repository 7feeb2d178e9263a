-- Takes the registry row of a target, for as long as the transaction lasts. Loads hold it FOR SHARE. Answers with nothing where another
-- transaction holds it.
-- $1 the target; $2 the schemas in which its SQL finds names; $3 whether they replace those already noted.
UPDATE daybook.target AS t
SET search_path = CASE WHEN $3 THEN $2 ELSE t.search_path END
FROM (SELECT target FROM daybook.target WHERE target = $1 FOR NO KEY UPDATE SKIP LOCKED) AS free
WHERE t.target = free.target
RETURNING 1
