-- Takes back versions that began at the instant of this run.
DELETE FROM {target} AS existing
USING (
    SELECT * FROM {actions} AS action WHERE action.what OPERATOR(pg_catalog.=) 'withdraw' ORDER BY action.part, action.place
) AS action
WHERE {this_version}
