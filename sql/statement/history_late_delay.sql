-- Late rows begin one tick after the version that they replace, which shrinks to that tick.
SELECT 'close', found.part, found.place, found.began, NULL, found.began + $3 - $2, false, false, false, {columns}
FROM found
WHERE found.is_late
UNION ALL
SELECT 'open', NULL, NULL, NULL, found.began + $3, {horizon}, true, false, false, {columns}
FROM found
WHERE found.is_late
