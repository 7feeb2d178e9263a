-- Deletes the rows of an interval by their stamp, and counts them by grain interval.
-- A row whose own time does not lie in the grain interval of its stamp is reported instead of counted: no rerun could write it
-- back, and the run fails.
-- $3 bounds in the type of the time column; $4 stamps; $5, $6 first stamp and end, in the type of the stamp; $7 the number of
-- the run.
DELETE FROM {target} AS target
WHERE target.{stamp} OPERATOR(pg_catalog.>=) $5
  AND target.{stamp} OPERATOR(pg_catalog.<) $6{chosen}
RETURNING daybook.tally_target(
    $7, false, pg_catalog.width_bucket(target.{time}, $3),
    CASE WHEN target.{stamp} OPERATOR(pg_catalog.=) ($4)[pg_catalog.width_bucket(target.{time}, $3)] THEN NULL
         ELSE pg_catalog.format('%s stamped %s', coalesce(target.{time}::pg_catalog.text, 'no time'), target.{stamp}) END)
