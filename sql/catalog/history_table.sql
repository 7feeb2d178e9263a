-- What stands in a history's way, or in its favour: its unique indexes, and the columns by which it is partitioned, at all levels.
-- $1 the table.
SELECT jsonb_build_object(
    'unique', coalesce((
        SELECT jsonb_agg(jsonb_build_object(
                   'columns', (
                       SELECT jsonb_agg(a.attname ORDER BY k.place)
                       FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
                       JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
                       WHERE k.place <= i.indnkeyatts),
                   'nulls_not_distinct', i.indnullsnotdistinct,
                   'predicate', pg_get_expr(i.indpred, i.indrelid)))
        FROM pg_index AS i
        WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indexprs IS NULL), '[]'),
    'partition_columns', coalesce((
        SELECT jsonb_agg(DISTINCT a.attname)
        FROM pg_partition_tree($1) AS t
        JOIN pg_partitioned_table AS p ON p.partrelid = t.relid
        CROSS JOIN unnest(p.partattrs::int2[]) AS k (number)
        LEFT JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = k.number
        WHERE k.number <> 0), '[]'),
    'partitioned_by_expression', EXISTS (
        SELECT FROM pg_partition_tree($1) AS t
        JOIN pg_partitioned_table AS p ON p.partrelid = t.relid
        WHERE p.partexprs IS NOT NULL))
