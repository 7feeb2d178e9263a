-- Whether a role may read a relation, or at least some of its columns.
-- $1 the relation; $2 the role.
SELECT to_jsonb(has_table_privilege($2, $1, 'SELECT') OR has_any_column_privilege($2, $1, 'SELECT'))
