-- Takes the registry row of a target, for as long as the transaction lasts; makes it first if need be. Loads hold it FOR SHARE.
-- $1 the target; $2 the schemas in which its SQL finds names; $3 whether they replace those already noted.
INSERT INTO daybook.target AS t (target, search_path)
VALUES ($1, $2)
ON CONFLICT (target) DO UPDATE SET search_path = CASE WHEN $3 THEN EXCLUDED.search_path ELSE t.search_path END
