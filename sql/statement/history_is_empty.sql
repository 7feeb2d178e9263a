-- Whether a history has no version yet.
SELECT pg_catalog.to_jsonb(NOT EXISTS (SELECT FROM {target}))
