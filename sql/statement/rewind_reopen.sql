-- Makes the versions current again that ended by something after an instant.
-- $1 the instant; $2 the unit of the time axis.
UPDATE {target} AS existing
SET {delimited} = {horizon}
WHERE {not_current} AND (existing.{delimited} OPERATOR(pg_catalog.+) $2) OPERATOR(pg_catalog.>) $1
