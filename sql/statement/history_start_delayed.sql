-- When a late event begins: one tick after what is known, and a chain of them one tick after the other.
max(greatest(judged.starts, judged.free) - (judged.turn - 1) * $3)
               OVER (PARTITION BY {keys} ORDER BY judged.turn ROWS UNBOUNDED PRECEDING) + (judged.turn - 1) * $3
