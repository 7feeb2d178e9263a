-- The kind of a change by its type; NULL for a type that is not known.
CASE WHEN {type} OPERATOR(pg_catalog.=) {deleted} THEN 'delete'
         WHEN {type} OPERATOR(pg_catalog.=) ANY (ARRAY['insert', 'update_postimage']) THEN 'upsert'
         WHEN {type} OPERATOR(pg_catalog.=) ANY (ARRAY['read', 'delete']) THEN {type}
         WHEN {type} OPERATOR(pg_catalog.=) 'update_preimage' THEN 'before' END
