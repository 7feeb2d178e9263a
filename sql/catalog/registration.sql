-- What is registered for a target: its load or history, if there is one, and its rules in order. Times are microseconds since
-- 2000-01-01.
-- $1 the target. No row if nothing is registered for it.
SELECT jsonb_build_object(
    'search_path', t.search_path,
    'calendar', t.calendar,
    'has_intervals', EXISTS (SELECT FROM daybook.interval_state AS s WHERE s.target = t.target AND s.status IS NOT NULL),
    'first_interval', (SELECT (extract(epoch FROM min(s.interval_start)) * 1000000)::bigint - 946684800000000
                       FROM daybook.interval_state AS s WHERE s.target = t.target AND s.status IS NOT NULL),
    'rules', coalesce((
        SELECT jsonb_agg(jsonb_build_object('name', r.name, 'column_name', r.column_name, 'expression', r.expression)
                         ORDER BY r.position)
        FROM daybook.rule AS r WHERE r.target = t.target), '[]'),
    'load', (
        SELECT jsonb_build_object(
            'source_schema', l.source_schema,
            'source_name', l.source_name,
            'time_column', l.time_column,
            'grain_text', l.grain::text,
            'grain_months', (extract(year FROM l.grain) * 12 + extract(month FROM l.grain))::integer,
            'grain_days', extract(day FROM l.grain)::integer,
            'grain_micros', (extract(hour FROM l.grain) * 3600000000 + extract(minute FROM l.grain) * 60000000
                             + extract(microseconds FROM l.grain))::bigint,
            'zone', l.zone,
            'origin', (extract(epoch FROM l.origin - timestamp '2000-01-01 00:00:00') * 1000000)::bigint,
            'stamp_column', l.stamp_column,
            'loaded_at_column', l.loaded_at_column,
            'keys', l.keys,
            'dedup_order_by', l.dedup_order_by,
            'history_starts', (extract(epoch FROM l.history_starts) * 1000000)::bigint - 946684800000000,
            'settle', (extract(epoch FROM l.settle) * 1000000)::bigint,
            'extra_columns_are_errors', l.extra_columns = 'error')
        FROM daybook.load AS l WHERE l.target = t.target),
    'history', (
        SELECT to_jsonb(h) || jsonb_build_object(
            'time_axis_unit', (extract(epoch FROM h.time_axis_unit) * 1000000)::bigint,
            'newest', (extract(epoch FROM h.newest - timestamp '2000-01-01 00:00:00') * 1000000)::bigint,
            'source_dated_until',
                (extract(epoch FROM h.source_dated_until - timestamp '2000-01-01 00:00:00') * 1000000)::bigint)
        FROM daybook.history AS h WHERE h.target = t.target))
FROM daybook.target AS t
WHERE t.target = $1
