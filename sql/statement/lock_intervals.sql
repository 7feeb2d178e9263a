-- Holds the grain intervals of a run, in order, until the transaction ends: a row that is there is locked as it stands, one that
-- is not there is made, which makes another run that wants it wait. Works at every isolation level: a run whose snapshot is
-- older than what another one committed here fails with 40001.
-- $1 the target; $2 starts; $3 ends.
INSERT INTO daybook.interval_state (target, interval_start, interval_end)
SELECT $1, unit.interval_start, unit.interval_end
FROM unnest($2, $3) AS unit (interval_start, interval_end)
ORDER BY unit.interval_start
ON CONFLICT (target, interval_start) DO UPDATE SET interval_end = EXCLUDED.interval_end WHERE false
