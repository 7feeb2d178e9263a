-- Takes the registry row of a target for a run of its history, as a change: a run whose snapshot is older than the commit of another
-- one fails with 40001.
-- $1 the target.
UPDATE daybook.target SET search_path = search_path WHERE target = $1 RETURNING 1
