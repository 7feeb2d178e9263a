-- Says whose the view is; by this it is known again.
COMMENT ON VIEW {view} IS {comment}
