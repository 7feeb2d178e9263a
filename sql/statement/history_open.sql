-- Writes the new versions.
-- $5, $6 for fingerprints.
INSERT INTO {target} ({columns})
SELECT {values}
FROM {actions} AS action
WHERE action.what OPERATOR(pg_catalog.=) 'open'
