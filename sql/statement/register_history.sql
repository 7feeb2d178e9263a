-- Writes the registration of a history; writes nothing where it says the same already.
-- $1 the row, as a document.
INSERT INTO daybook.history AS h
    (target, source_schema, source_name, keys, historize_blacklist, historize_whitelist, time_axis_unit, zone,
    check_input_unique, dedup_order_by, source_timestamp_column, existing_predicate, cdc_column, cdc_deleted_value,
    cdc_auto_detect, cdc_timestamp_auto_detect, skip_unchanged, intermediate_versions, delivery, delivery_scope,
    late, ignore_old_deleted_columns, ignore_old_deleted_nested_columns, on_empty, max_closed_percent,
    captured_column, delimited_column, hash_column, upper_horizon)
SELECT given.target, given.source_schema, given.source_name, given.keys, given.historize_blacklist,
       given.historize_whitelist, given.time_axis_unit, given.zone, given.check_input_unique, given.dedup_order_by,
       given.source_timestamp_column, given.existing_predicate, given.cdc_column, given.cdc_deleted_value,
       given.cdc_auto_detect, given.cdc_timestamp_auto_detect, given.skip_unchanged, given.intermediate_versions,
       given.delivery, given.delivery_scope, given.late, given.ignore_old_deleted_columns,
       given.ignore_old_deleted_nested_columns, given.on_empty, given.max_closed_percent, given.captured_column,
       given.delimited_column, given.hash_column, given.upper_horizon
FROM jsonb_populate_record(NULL::daybook.history, $1) AS given
ON CONFLICT (target) DO UPDATE
SET source_schema = EXCLUDED.source_schema, source_name = EXCLUDED.source_name, keys = EXCLUDED.keys,
    historize_blacklist = EXCLUDED.historize_blacklist, historize_whitelist = EXCLUDED.historize_whitelist,
    time_axis_unit = EXCLUDED.time_axis_unit, zone = EXCLUDED.zone, check_input_unique = EXCLUDED.check_input_unique,
    dedup_order_by = EXCLUDED.dedup_order_by, source_timestamp_column = EXCLUDED.source_timestamp_column,
    existing_predicate = EXCLUDED.existing_predicate, cdc_column = EXCLUDED.cdc_column,
    cdc_deleted_value = EXCLUDED.cdc_deleted_value, cdc_auto_detect = EXCLUDED.cdc_auto_detect,
    cdc_timestamp_auto_detect = EXCLUDED.cdc_timestamp_auto_detect, skip_unchanged = EXCLUDED.skip_unchanged,
    intermediate_versions = EXCLUDED.intermediate_versions, delivery = EXCLUDED.delivery,
    delivery_scope = EXCLUDED.delivery_scope, late = EXCLUDED.late,
    ignore_old_deleted_columns = EXCLUDED.ignore_old_deleted_columns,
    ignore_old_deleted_nested_columns = EXCLUDED.ignore_old_deleted_nested_columns, on_empty = EXCLUDED.on_empty,
    max_closed_percent = EXCLUDED.max_closed_percent, captured_column = EXCLUDED.captured_column,
    delimited_column = EXCLUDED.delimited_column, hash_column = EXCLUDED.hash_column,
    upper_horizon = EXCLUDED.upper_horizon
WHERE to_jsonb(h) - ARRAY['newest', 'source_dated_until', 'has_views']
      IS DISTINCT FROM to_jsonb(EXCLUDED) - ARRAY['newest', 'source_dated_until', 'has_views']
