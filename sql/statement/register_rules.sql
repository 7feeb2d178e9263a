-- Writes all rules of a target in their order.
-- $1 the target; $2 the rules, an array of {name, column_name, expression}.
INSERT INTO daybook.rule (target, name, position, kind, column_name, expression)
SELECT $1, rule.value ->> 'name', rule.ordinality,
       CASE WHEN rule.value ->> 'column_name' IS NULL THEN 'filter' ELSE 'expression' END,
       rule.value ->> 'column_name', rule.value ->> 'expression'
FROM jsonb_array_elements($2) WITH ORDINALITY AS rule
