-- The statements that give a view what it has now beside its columns: comment, options, and rights on it and on its columns.
-- $1 the view.
SELECT jsonb_agg(given.statement ORDER BY given.place)
FROM (
    SELECT 0 AS place, format('COMMENT ON VIEW %I.%I IS %L', n.nspname, c.relname, obj_description(c.oid, 'pg_class')) AS statement
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = $1 AND obj_description(c.oid, 'pg_class') IS NOT NULL
    UNION ALL
    SELECT 1, format('ALTER VIEW %I.%I SET (%s)', n.nspname, c.relname, array_to_string(c.reloptions, ', '))
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = $1 AND c.reloptions IS NOT NULL
    UNION ALL
    SELECT 2, format('GRANT %s ON %I.%I TO %s%s', a.privilege_type, n.nspname, c.relname,
                     CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
                     CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    CROSS JOIN aclexplode(c.relacl) AS a
    WHERE c.oid = $1 AND a.grantee <> c.relowner
    UNION ALL
    SELECT 3, format('GRANT %s (%I) ON %I.%I TO %s%s', a.privilege_type, t.attname, n.nspname, c.relname,
                     CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
                     CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_attribute AS t ON t.attrelid = c.oid AND NOT t.attisdropped
    CROSS JOIN aclexplode(t.attacl) AS a
    WHERE c.oid = $1 AND a.grantee <> c.relowner
) AS given
