-- Late rows go to their true place: into the version that covers their instant, or between two.
SELECT CASE WHEN found.former_began = found.starts THEN 'withdraw'
            WHEN found.former_began + $3 <= found.starts THEN 'close'
            ELSE 'near' END,
       found.former_part, found.former_place, found.former_began, found.starts, found.starts - $2, false, false, false, {columns}
FROM found
WHERE found.is_late AND found.is_covered AND NOT found.former_same
UNION ALL
SELECT CASE WHEN NOT found.is_covered AND found.next_began >= found.starts + $3 THEN 'open'
            WHEN found.is_covered AND (found.former_current OR found.former_ended >= found.starts + $3 - $2) THEN 'open'
            ELSE 'near' END,
       NULL, NULL, found.next_began, found.starts,
       CASE WHEN NOT found.is_covered THEN found.next_began - $2
            WHEN found.former_current THEN {horizon}
            ELSE found.former_ended END,
       true, false, false, {columns}
FROM found
WHERE found.is_late AND NOT (found.is_covered AND found.former_same)
