-- Which of some rights a role lacks on a relation; whoever has the owner's role lacks none. No row if there is no such relation.
-- $1 the relation; $2 the role; $3 the rights.
SELECT jsonb_build_object(
    'name', format('%I.%I', n.nspname, c.relname),
    'missing', coalesce((
        SELECT jsonb_agg(r.name ORDER BY r.place)
        FROM unnest($3) WITH ORDINALITY AS r (name, place)
        WHERE NOT has_table_privilege($2, c.oid, r.name) AND NOT pg_has_role($2, c.relowner, 'USAGE')), '[]'))
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = $1
