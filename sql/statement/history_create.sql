-- Makes a history: the columns of its source, the technical ones, a primary key over key and valid-from.
CREATE TABLE {target} ({columns}, PRIMARY KEY ({key}, {captured}))
