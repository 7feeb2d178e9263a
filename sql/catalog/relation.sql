-- One relation as the catalog describes it.
-- $1 its OID; $2 the role that asks. No row if there is no such relation.
SELECT jsonb_build_object(
    'oid', c.oid::bigint,
    'schema', n.nspname,
    'name', c.relname,
    'kind', c.relkind,
    'persistence', c.relpersistence,
    'owner', c.relowner::bigint,
    'owner_name', pg_get_userbyid(c.relowner),
    'caller_owns', pg_has_role($2, c.relowner, 'USAGE'),
    'caller_selects', has_table_privilege($2, c.oid, 'SELECT'),
    'owner_bypasses_row_security', (SELECT r.rolsuper OR r.rolbypassrls FROM pg_roles AS r WHERE r.oid = c.relowner),
    'row_security', c.relrowsecurity,
    'row_security_forced', c.relforcerowsecurity,
    'view_definition', CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
    'rewrite_rules', CASE WHEN c.relhasrules THEN (
        SELECT coalesce(jsonb_agg(r.rulename ORDER BY r.rulename), '[]')
        FROM pg_rewrite AS r
        WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN') ELSE '[]' END,
    'has_inheritance_children', c.relkind = 'r' AND EXISTS (
        SELECT FROM pg_inherits AS i WHERE i.inhparent = c.oid),
    -- Partitions, and the relation itself.
    'foreign_parts', (
        SELECT coalesce(jsonb_agg(p.oid::regclass ORDER BY p.oid), '[]')
        FROM pg_class AS p
        WHERE p.oid = ANY (part.oids) AND p.relkind = 'f'),
    -- Partitions and partitioned tables around it, without itself.
    'relatives', (
        SELECT coalesce(jsonb_agg(related.oid::bigint), '[]')
        FROM (SELECT a.relid AS oid FROM pg_partition_ancestors(c.oid) AS a
              UNION
              SELECT p.oid FROM unnest(part.oids) AS p (oid)) AS related
        WHERE related.oid <> c.oid),
    -- Found by the triggers that they put on the table they refer to, for which there is an index.
    'cascading_keys', (
        SELECT coalesce(jsonb_agg(DISTINCT format('%I of table %s (on delete %s)', k.conname, k.conrelid::regclass,
                   CASE k.confdeltype WHEN 'c' THEN 'cascade' WHEN 'n' THEN 'set null' ELSE 'set default' END)), '[]')
        FROM pg_trigger AS t
        JOIN pg_constraint AS k ON k.oid = t.tgconstraint
        WHERE t.tgrelid = ANY (part.oids) AND k.contype = 'f' AND k.confrelid = t.tgrelid
          AND k.confdeltype IN ('c', 'n', 'd')),
    'deferred_triggers', (
        SELECT coalesce(jsonb_agg(DISTINCT coalesce(k.conname, t.tgname)), '[]')
        FROM pg_trigger AS t
        LEFT JOIN pg_constraint AS k ON k.oid = t.tgconstraint
        WHERE t.tgrelid = ANY (part.oids) AND t.tginitdeferred),
    -- Bits of pg_trigger.tgtype: 1 for each row, 2 before, 4 on insert, 8 on delete, 16 on update.
    'has_before_insert_triggers', EXISTS (
        SELECT FROM pg_trigger AS t
        WHERE t.tgrelid = ANY (part.oids) AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype::integer & 7 = 7),
    'has_before_delete_triggers', EXISTS (
        SELECT FROM pg_trigger AS t
        WHERE t.tgrelid = ANY (part.oids) AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype::integer & 11 = 11),
    'has_before_update_triggers', EXISTS (
        SELECT FROM pg_trigger AS t
        WHERE t.tgrelid = ANY (part.oids) AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype::integer & 19 = 19),
    'columns', (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
                   'name', a.attname,
                   'type_oid', a.atttypid::bigint,
                   'type_modifier', a.atttypmod,
                   'collation', a.attcollation::bigint,
                   'type_name', format_type(a.atttypid, a.atttypmod),
                   'not_null', a.attnotnull,
                   'has_default', a.atthasdef OR t.typdefault IS NOT NULL,
                   'identity', a.attidentity,
                   'generated', a.attgenerated)
               ORDER BY a.attnum), '[]')
        FROM pg_attribute AS a
        JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped))
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
    SELECT ARRAY (SELECT c.oid UNION SELECT p.relid FROM pg_partition_tree(c.oid) AS p) AS oids) AS part
WHERE c.oid = $1
