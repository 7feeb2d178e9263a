-- Late rows fail the run.
SELECT 'late', found.part, found.place, found.began, found.starts, NULL, true, false, false, {columns}
FROM found
WHERE found.is_late
