-- When a late event begins: one tick after what is known, and a chain of them in its order.
max(greatest(kept.starts, kept.free) - kept.versions_before)
               OVER (PARTITION BY {keys} ORDER BY kept.turn ROWS UNBOUNDED PRECEDING) + kept.versions_before
