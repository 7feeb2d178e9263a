-- A valid-to that looks like the mark of current versions, but is not the one that is registered: NULL, beyond it, or, where no
-- version is current, the latest of all if it has not come yet.
SELECT pg_catalog.to_jsonb(found.ended)
FROM (
    SELECT CASE WHEN pg_catalog.bool_or(existing.{delimited} IS NULL) AND NOT {null_is_current} THEN 'null'
                WHEN pg_catalog.max(existing.{delimited}) OPERATOR(pg_catalog.>) {horizon}
                THEN pg_catalog.max(existing.{delimited})::pg_catalog.text
                WHEN NOT pg_catalog.bool_or({is_current})
                     AND pg_catalog.max(existing.{delimited}) OPERATOR(pg_catalog.>) pg_catalog.now()
                THEN pg_catalog.max(existing.{delimited})::pg_catalog.text END AS ended
    FROM {target} AS existing
) AS found
