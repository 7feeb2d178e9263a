-- Gives a history the columns that its source needs.
ALTER TABLE {target} {changes}
