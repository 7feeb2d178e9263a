-- Late rows are left out.
SELECT 'ignore', found.part, found.place, found.began, NULL, NULL, true, false, false, {columns}
FROM found
WHERE found.is_late
