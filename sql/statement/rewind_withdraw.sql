-- Takes back the versions that began after an instant.
-- $1 the instant.
DELETE FROM {target} AS existing
WHERE existing.{captured} OPERATOR(pg_catalog.>) $1
