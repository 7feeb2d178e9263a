-- Late rows go to their true place: into the version that covers their instant, or between two.
    (CASE WHEN found.is_late AND found.before_covers AND NOT found.before_same AND found.before_began = found.starts THEN 'withdraw' END,
     found.before_part, found.before_place, found.before_began, NULL, NULL, false, false, false),
    (CASE WHEN found.is_late AND found.before_covers AND NOT found.before_same AND found.before_began < found.starts THEN
              CASE WHEN found.before_began + $3 <= found.starts THEN 'close' ELSE 'near' END
     END,
     found.before_part, found.before_place, found.before_began, found.starts, found.starts - $2, false, false, false),
    (CASE WHEN found.is_late AND found.before_covers AND found.before_same THEN NULL
          WHEN found.is_late AND found.before_covers THEN
              CASE WHEN found.before_current OR found.before_ended >= found.starts + $3 - $2 THEN 'open' ELSE 'near' END
          WHEN found.is_late THEN
              CASE WHEN found.after_began >= found.starts + $3 THEN 'open' ELSE 'near' END
     END,
     NULL, NULL, found.after_began, found.starts,
     CASE WHEN found.before_covers AND found.before_current THEN {horizon}
          WHEN found.before_covers THEN found.before_ended
          ELSE found.after_began - $2 END,
     true, false, false)
