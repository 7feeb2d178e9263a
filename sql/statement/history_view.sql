-- The current versions of a history.
CREATE OR REPLACE VIEW {view} AS
SELECT {columns}
FROM {target} AS existing
WHERE {is_current}
