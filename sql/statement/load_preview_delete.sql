-- What load_delete would delete and refuse, without deleting: for a dry run.
-- $3 bounds in the type of the time column; $4 stamps; $5, $6 first stamp and end, in the type of the stamp; $7 the number of
-- the run.
SELECT daybook.tally_target(
    $7, false, pg_catalog.width_bucket(target.{time}, $3),
    CASE WHEN target.{stamp} OPERATOR(pg_catalog.=) ($4)[pg_catalog.width_bucket(target.{time}, $3)] THEN NULL
         ELSE pg_catalog.format('%s stamped %s', coalesce(target.{time}::pg_catalog.text, 'no time'), target.{stamp}) END)
FROM {target} AS target
WHERE target.{stamp} OPERATOR(pg_catalog.>=) $5
  AND target.{stamp} OPERATOR(pg_catalog.<) $6{chosen}
