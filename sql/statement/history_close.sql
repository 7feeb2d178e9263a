-- Ends versions, and makes versions current again that ended at the instant of this run: nothing but their valid-to changes.
UPDATE {target} AS existing
SET {delimited} = action.valid_to
FROM (
    SELECT action.part, action.place, action.began, action.valid_to, {keys} FROM {actions} AS action
    WHERE action.what OPERATOR(pg_catalog.=) ANY (ARRAY['close', 'reopen'])
    ORDER BY action.part, action.place
) AS action
WHERE {this_version}
