-- Renews fingerprints that are missing or were made by other means.
-- $5, $6 for fingerprints.
UPDATE {target} AS existing
SET {hash} = daybook.row_hash($5, $6, ROW({compared}))
FROM (
    SELECT * FROM {actions} AS action WHERE action.what OPERATOR(pg_catalog.=) 'rehash' ORDER BY action.part, action.place
) AS action
WHERE {this_version}
