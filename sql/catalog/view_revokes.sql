-- The statements that take away the rights that a new view has got by default.
-- $1 the view.
SELECT jsonb_agg(DISTINCT format('REVOKE ALL ON %I.%I FROM %s', n.nspname, c.relname,
                                 CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END))
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN aclexplode(c.relacl) AS a
WHERE c.oid = $1 AND a.grantee <> c.relowner
