-- Late rows begin one tick after the version that they replace, which shrinks to that tick.
    (CASE WHEN found.is_late THEN 'close' END,
     found.part, found.place, found.began, NULL, found.began + $3 - $2, false, false, false),
    (CASE WHEN found.is_late THEN 'open' END,
     NULL, NULL, NULL, found.began + $3, {horizon}, true, false, false)
