-- Takes the view of current versions away, to be made anew with other columns.
DROP VIEW IF EXISTS {view}
