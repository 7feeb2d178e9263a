-- The delivered events in the types of the history. kind is upsert, read, delete or before (a row as it was before an update);
-- NULL where the type is not known. at is when it happened, starts the same cut to the unit of the time axis; ordinal is the place that the
-- source gives it, by which images before and after belong together; sequence orders what happened at once.
-- $1 the reference; $4 the unit to which times are cut.
SELECT event.*, {cut} AS starts
FROM (
    SELECT {columns}, {kind} AS kind, {is_after} AS is_after, source.{type}::pg_catalog.text AS type,
           coalesce({at}, $1) AS at, {ordinal} AS ordinal, {sequence} AS sequence
    FROM (
{rows}
    ) AS source
) AS event
