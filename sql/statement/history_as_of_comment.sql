-- Says whose the function is; by this it is known again.
COMMENT ON FUNCTION {function}(pg_catalog.timestamptz) IS {comment}
