-- The delivered rows in the types of the history: its keys as k1, k2 and so on, its other columns as d1, d2 and so on, and the
-- instant from which each is valid.
-- $1 the reference; $4 the unit to which times are cut.
SELECT {columns}, {starts} AS starts{copies}
FROM (
{rows}
) AS source
