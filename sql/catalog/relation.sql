-- One relation as the catalog describes it.
-- $1 its OID; $2 the role that asks. No row if there is no such relation.
SELECT pg_catalog.jsonb_build_object(
    'oid', c.oid::bigint,
    'schema', n.nspname,
    'name', c.relname,
    'kind', c.relkind,
    'persistence', c.relpersistence,
    'is_partition', c.relispartition,
    'owner', c.relowner::bigint,
    'owner_name', pg_get_userbyid(c.relowner),
    'caller_owns', pg_has_role($2, c.relowner, 'USAGE'),
    'caller_selects', has_table_privilege($2, c.oid, 'SELECT'),
    'owner_bypasses_row_security', (SELECT r.rolsuper OR r.rolbypassrls FROM pg_roles AS r WHERE r.oid = c.relowner),
    'row_security', c.relrowsecurity,
    'row_security_forced', c.relforcerowsecurity,
    'view_definition', CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
    'rewrite_rules', coalesce((
        SELECT jsonb_agg(r.rulename ORDER BY r.rulename)
        FROM pg_rewrite AS r
        WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN'), '[]'),
    'has_inheritance_children', c.relkind = 'r' AND EXISTS (
        SELECT FROM pg_inherits AS i WHERE i.inhparent = c.oid),
    'foreign_parts', coalesce((
        SELECT jsonb_agg(part.oid::regclass ORDER BY part.oid)
        FROM pg_class AS part
        WHERE part.relkind = 'f'
          AND part.oid IN (SELECT c.oid
                           UNION ALL SELECT p.relid FROM pg_partition_tree(c.oid) AS p)), '[]'),
    'relatives', coalesce((
        SELECT jsonb_agg(DISTINCT relid::bigint)
        FROM (SELECT a.relid FROM pg_partition_ancestors(c.oid) AS a
              UNION ALL
              SELECT p.relid FROM pg_partition_tree(c.oid) AS p) AS related
        WHERE relid <> c.oid), '[]'),
    'cascading_keys', coalesce((
        SELECT jsonb_agg(DISTINCT format('%I of table %s (on delete %s)', k.conname, k.conrelid::regclass,
                   CASE k.confdeltype WHEN 'c' THEN 'cascade' WHEN 'n' THEN 'set null' ELSE 'set default' END))
        FROM pg_constraint AS k
        WHERE k.contype = 'f' AND k.confdeltype IN ('c', 'n', 'd')
          AND k.confrelid IN (SELECT c.oid
                              UNION ALL SELECT p.relid FROM pg_partition_tree(c.oid) AS p)), '[]'),
    'deferred_triggers', coalesce((
        SELECT jsonb_agg(DISTINCT coalesce(k.conname, t.tgname))
        FROM pg_trigger AS t
        LEFT JOIN pg_constraint AS k ON k.oid = t.tgconstraint
        WHERE t.tginitdeferred
          AND t.tgrelid IN (SELECT c.oid
                            UNION ALL SELECT p.relid FROM pg_partition_tree(c.oid) AS p)), '[]'),
    'has_before_insert_triggers', EXISTS (
        SELECT FROM pg_trigger AS t
        WHERE t.tgrelid IN (SELECT c.oid
                            UNION ALL SELECT p.relid FROM pg_partition_tree(c.oid) AS p)
          AND NOT t.tgisinternal AND t.tgenabled <> 'D'
          -- Bits of pg_trigger.tgtype: 1 for each row, 2 before, 4 on insert.
          AND t.tgtype::integer & 7 = 7),
    'has_before_delete_triggers', EXISTS (
        SELECT FROM pg_trigger AS t
        WHERE t.tgrelid IN (SELECT c.oid
                            UNION ALL SELECT p.relid FROM pg_partition_tree(c.oid) AS p)
          AND NOT t.tgisinternal AND t.tgenabled <> 'D'
          -- 1 for each row, 2 before, 8 on delete.
          AND t.tgtype::integer & 11 = 11),
    'columns', coalesce((
        SELECT jsonb_agg(jsonb_build_object(
                   'name', a.attname,
                   'type_oid', a.atttypid::bigint,
                   'type_name', format_type(a.atttypid, a.atttypmod),
                   'has_default', a.atthasdef OR t.typdefault IS NOT NULL,
                   'identity', a.attidentity,
                   'generated', a.attgenerated)
               ORDER BY a.attnum)
        FROM pg_attribute AS a
        JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '[]'))
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = $1
