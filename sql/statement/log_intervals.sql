-- Writes what a run did to each of its grain intervals into the log.
-- $1 the run; $2 starts; $3 ends; $4 status; $5 rows read; $6 dropped; $7 deleted; $8 inserted.
INSERT INTO daybook.run_interval
    (run_id, interval_start, interval_end, status, rows_read, rows_dropped, rows_deleted, rows_inserted)
SELECT $1, unit.*
FROM unnest($2, $3, $4, $5, $6, $7, $8) AS unit
