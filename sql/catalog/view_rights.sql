-- The statements that give a view the rights it has now.
-- $1 schema and $2 name of the view.
SELECT jsonb_agg(format('GRANT %s ON %I.%I TO %s%s', a.privilege_type, n.nspname, c.relname,
                        CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
                        CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END))
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN aclexplode(c.relacl) AS a
WHERE n.nspname = $1 AND c.relname = $2 AND a.grantee <> c.relowner
