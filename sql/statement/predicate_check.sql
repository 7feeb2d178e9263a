-- A condition over the rows of a history. Only parsed, never run.
SELECT {predicate}
FROM {target} AS existing
