-- The OID of a relation by schema and name; no row if there is none.
-- $1 schema; $2 name.
SELECT to_jsonb(c.oid::bigint)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
