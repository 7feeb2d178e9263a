-- Inserts the rows of an interval, each stamped with the start of its grain interval.
-- $4 stamps, by number of the grain interval; $8 the time of the load.
INSERT INTO {target} AS target ({columns})
SELECT {values}
FROM (
{rows}
) AS source
{returning}
