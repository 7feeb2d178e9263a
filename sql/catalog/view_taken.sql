-- What else than ours stands under the names of a history's view and function. Ours say so in their
-- comments, unless somebody has written others since.
-- $1 schema; $2 name of the view; $3 name of the function; $4 the history; $5 whether it has views.
SELECT jsonb_agg(taken.what)
FROM (
    SELECT format('%I.%I', n.nspname, c.relname) AS what
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = $2
      AND NOT (c.relkind = 'v' AND c.relowner = (SELECT h.relowner FROM pg_class AS h WHERE h.oid = $4) AND (
          coalesce(obj_description(c.oid, 'pg_class'), '') LIKE '%kept by daybook'
          OR ($5 AND EXISTS (
              SELECT FROM pg_rewrite AS r
              JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
              WHERE r.ev_class = c.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid = $4))))
    UNION ALL
    SELECT p.oid::regprocedure::text
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname = $1 AND p.proname = $3 AND p.proargtypes[0] = 'timestamptz'::regtype AND p.pronargs = 1
      AND (p.prorettype <> (SELECT c.reltype FROM pg_class AS c WHERE c.oid = $4)
           OR (NOT $5 AND coalesce(obj_description(p.oid, 'pg_proc'), '') NOT LIKE '%kept by daybook'))
) AS taken
