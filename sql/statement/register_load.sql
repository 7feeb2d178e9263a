-- Writes the registration of a load; writes nothing where it says the same already.
INSERT INTO daybook.load AS l
    (target, source_schema, source_name, time_column, grain, zone, origin, stamp_column, loaded_at_column, keys,
     dedup_order_by, history_starts, settle, extra_columns)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::name[], $11, $12, $13, $14)
ON CONFLICT (target) DO UPDATE
SET source_schema = EXCLUDED.source_schema, source_name = EXCLUDED.source_name, time_column = EXCLUDED.time_column,
    grain = EXCLUDED.grain, zone = EXCLUDED.zone, origin = EXCLUDED.origin, stamp_column = EXCLUDED.stamp_column,
    loaded_at_column = EXCLUDED.loaded_at_column, keys = EXCLUDED.keys, dedup_order_by = EXCLUDED.dedup_order_by,
    history_starts = EXCLUDED.history_starts, settle = EXCLUDED.settle, extra_columns = EXCLUDED.extra_columns
WHERE l IS DISTINCT FROM EXCLUDED
