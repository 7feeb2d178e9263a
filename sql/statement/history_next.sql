-- The first version after the instant of a late row.
LEFT JOIN LATERAL (
    SELECT existing.{captured} AS began
    FROM {target} AS existing
    WHERE {same_key}
      AND existing.{captured} > CASE WHEN found.state = 'changed' AND found.starts < found.began + $3 THEN found.starts END
    ORDER BY existing.{captured}
    LIMIT 1
) AS next ON true
