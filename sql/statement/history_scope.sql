-- Whether the values of some columns were delivered at all: beyond those, nothing that is missing was deleted.
daybook.row_hash('', {names}, ROW({old})) OPERATOR(pg_catalog.=) ANY (
               SELECT daybook.row_hash('', {names}, ROW({new})) FROM delivered AS new)
