-- The kind of a change by a column of the user's own; NULL where that is NULL.
CASE WHEN {type} IS NULL THEN NULL
         WHEN {type} OPERATOR(pg_catalog.=) {deleted} THEN 'delete'
         ELSE 'upsert' END
