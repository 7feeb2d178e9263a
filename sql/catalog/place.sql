-- The relation that a text names, as the caller's search_path finds it, or where it would be made. Runs before the path is pinned.
-- $1 the name.
SELECT pg_catalog.jsonb_build_object(
    'oid', pg_catalog.to_regclass($1)::pg_catalog.oid::pg_catalog.int8,
    'parts', pg_catalog.to_jsonb(pg_catalog.parse_ident($1)),
    'schema', pg_catalog.current_schema())
