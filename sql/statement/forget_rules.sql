-- Forgets all rules of a target, before they are written in their new order.
-- $1 the target.
DELETE FROM daybook.rule WHERE target = $1
