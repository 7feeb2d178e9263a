-- Makes the registry row of a target, unless it has one.
-- $1 the target; $2 the schemas in which its SQL finds names.
INSERT INTO daybook.target (target, search_path)
VALUES ($1, $2)
ON CONFLICT (target) DO NOTHING
