-- The kind of a change by its type; NULL for a type that is not known.
CASE {type}
         WHEN {deleted} THEN 'delete'
         WHEN 'insert' THEN 'upsert'
         WHEN 'update_postimage' THEN 'upsert'
         WHEN 'read' THEN 'read'
         WHEN 'delete' THEN 'delete'
         WHEN 'update_preimage' THEN 'before' END
