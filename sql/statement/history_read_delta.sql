-- What differs between delivered rows and the current versions of their keys.
-- $1 the reference; $5 what an up-to-date fingerprint begins with; $7 the number of the run.
SELECT {keys}, {data}, new.starts, new.copies, old.part, old.place, old.began,
       CASE WHEN old.began IS NULL THEN 'new'
            WHEN {same} THEN 'same'
            ELSE 'changed' END AS state
FROM {delivered} AS new
LEFT JOIN (
    SELECT {place}, existing.{captured} AS began, {old_columns}
    FROM {target} AS existing
    WHERE {is_current}{predicate}
) AS old ON {same_key}
WHERE old.began IS NULL OR new.copies OPERATOR(pg_catalog.>) 1 OR NOT {same}{stale}
