-- The schemas in which the caller's statement finds names, without those of temporary objects.
SELECT to_jsonb(coalesce(string_agg(quote_ident(s.name), ', ' ORDER BY s.ordinality), ''))
FROM unnest(current_schemas(false)) WITH ORDINALITY AS s (name)
WHERE s.name !~ '^pg_temp_'
