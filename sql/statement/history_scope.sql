-- Whether the values of some columns were delivered at all: beyond those, nothing that is missing was deleted.
daybook.row_hash($5, $6, ROW({old})) IN (SELECT daybook.row_hash($5, $6, ROW({new})) FROM delivered AS new)
