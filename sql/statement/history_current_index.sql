-- Lets a key have but one current version. The horizon is a literal, so that the index means the same in every session.
CREATE UNIQUE INDEX ON {target} ({columns}){nulls} WHERE {is_current}
