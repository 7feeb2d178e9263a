-- Writes a run into the log and gives it its number.
INSERT INTO daybook.run
    (target, target_name, function, status, interval_start, interval_end, wide, params, rules_version, rows_read, rows_dropped,
     rows_deleted, rows_inserted, dropped_by, called_by, started_at, finished_at, sqlstate, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, pg_get_userbyid($15), $16, clock_timestamp(), $17, $18)
RETURNING run_id
