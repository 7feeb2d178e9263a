-- Makes the function that answers with the versions valid at an instant.
CREATE OR REPLACE FUNCTION {function}(at pg_catalog.timestamptz) RETURNS SETOF {target}
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000 AS {body}
