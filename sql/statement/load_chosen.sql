-- Added to the delete of a run that may skip grain intervals: $9 says of each whether it is replaced.
  AND ($9)[pg_catalog.width_bucket(target.{stamp}, $4)]
