-- Rights. The tables are for the extension's owner alone: functions write them as that role, for that statement only.

GRANT USAGE ON SCHEMA daybook TO PUBLIC;
GRANT SELECT ON daybook.loads, daybook.histories, daybook.rules, daybook.runs, daybook.interval_log TO PUBLIC;
