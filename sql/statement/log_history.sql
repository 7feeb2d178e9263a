-- Writes a run of a history into the log and gives it its number.
INSERT INTO daybook.run
    (target, target_name, function, status, mode, reference_timestamp, params, rules_version, rows_read, rows_dropped, dropped_by,
     versions_opened, versions_closed, versions_withdrawn, versions_reopened, rows_unchanged, reappeared, late_rows,
     called_by, started_at, finished_at, sqlstate, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        pg_get_userbyid($19), $20, clock_timestamp(), $21, $22)
RETURNING run_id
