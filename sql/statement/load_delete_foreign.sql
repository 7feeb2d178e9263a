-- As load_delete, for a target that lives on another server, in whole or in part: the delete is sent there as it stands, and
-- what it returns is counted here.
-- $3 bounds in the type of the time column; $4 stamps; $5, $6 first stamp and end, in the type of the stamp; $7 the number of
-- the run.
WITH deleted AS (
    DELETE FROM {target} AS target
    WHERE target.{stamp} OPERATOR(pg_catalog.>=) $5
      AND target.{stamp} OPERATOR(pg_catalog.<) $6{chosen}
    RETURNING target.{time} AS row_time, target.{stamp} AS row_stamp
)
SELECT daybook.tally_target(
    $7, false, pg_catalog.width_bucket(deleted.row_time, $3),
    CASE WHEN deleted.row_stamp OPERATOR(pg_catalog.=) ($4)[pg_catalog.width_bucket(deleted.row_time, $3)] THEN NULL
         ELSE pg_catalog.format('%s stamped %s', coalesce(deleted.row_time::pg_catalog.text, 'no time'), deleted.row_stamp) END)
FROM deleted
