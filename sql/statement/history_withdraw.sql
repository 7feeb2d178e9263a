-- Takes back versions that began at the instant of this run.
DELETE FROM {target} AS existing
USING (
    SELECT action.part, action.place, action.began, action.valid_to, {keys} FROM {actions} AS action WHERE action.what OPERATOR(pg_catalog.=) 'withdraw' ORDER BY action.part, action.place
) AS action
WHERE {this_version}
