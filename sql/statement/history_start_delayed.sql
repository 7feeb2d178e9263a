-- When a late event begins: one tick after what is known, and a chain of them one tick after the other.
max(greatest(kept.starts, kept.free) - (kept.turn - 1) * $3)
               OVER (PARTITION BY {keys} ORDER BY kept.turn ROWS UNBOUNDED PRECEDING) + (kept.turn - 1) * $3
