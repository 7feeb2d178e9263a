-- Lets a key have but one version that begins at an instant, and finds the versions of a key.
CREATE UNIQUE INDEX ON {target} ({columns})
