-- Late rows fail the run.
    (CASE WHEN found.is_late THEN 'late' END,
     found.part, found.place, found.began, found.starts, NULL, true, false, false)
