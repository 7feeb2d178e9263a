-- The relation that a text names, as the caller's search_path finds it. Runs before the path is pinned.
-- $1 the name.
SELECT $1::pg_catalog.regclass::pg_catalog.oid
