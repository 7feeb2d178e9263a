-- What else than ours stands under the names of a history's view and function. Ours say so in their comments.
-- $1 schema; $2 name of the view; $3 name of the function; $4 the history.
SELECT jsonb_agg(taken.what)
FROM (
    SELECT format('%I.%I', n.nspname, c.relname) AS what
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = $2
      AND (c.relkind <> 'v' OR coalesce(obj_description(c.oid, 'pg_class'), '') NOT LIKE '%kept by daybook')
    UNION ALL
    SELECT p.oid::regprocedure::text
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname = $1 AND p.proname = $3 AND p.proargtypes[0] = 'timestamptz'::regtype AND p.pronargs = 1
      AND (p.prorettype <> (SELECT c.reltype FROM pg_class AS c WHERE c.oid = $4)
           OR coalesce(obj_description(p.oid, 'pg_proc'), '') NOT LIKE '%kept by daybook')
) AS taken
