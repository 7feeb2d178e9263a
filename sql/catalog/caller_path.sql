-- The schemas in which the caller's statement finds names, without those of temporary objects. Runs before the path is pinned, so
-- every name is qualified.
SELECT pg_catalog.to_jsonb(coalesce(
    pg_catalog.string_agg(pg_catalog.quote_ident(s.name::pg_catalog.text), ', '::pg_catalog.text ORDER BY s.place),
    ''::pg_catalog.text))
FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS s (name, place)
WHERE s.name::pg_catalog.text OPERATOR(pg_catalog.!~) '^pg_temp_'::pg_catalog.text
