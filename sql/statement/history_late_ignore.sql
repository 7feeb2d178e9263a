-- Late rows are left out.
    (CASE WHEN found.is_late THEN 'ignore' END,
     found.part, found.place, found.began, NULL, NULL, true, false, false)
