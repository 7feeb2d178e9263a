-- The versions valid at an instant: from their begin up to one unit of the time axis after their end, so that no instant falls
-- between two versions.
SELECT existing.*
FROM {target} AS existing
WHERE existing.{captured} OPERATOR(pg_catalog.<=) {at}
  AND ({open}existing.{delimited} OPERATOR(pg_catalog.>) {at_less_unit})
