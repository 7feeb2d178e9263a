"""Runs the model, each time a day later than the time before."""

import datetime
import os

from sqlmesh import Context

DAYS = "days"

days = os.path.getsize(DAYS) if os.path.exists(DAYS) else 0
at = (datetime.datetime(2030, 1, 1) + datetime.timedelta(days=days)).isoformat(sep=" ")
context = Context(paths=".")
if days == 0:
    context.plan(auto_apply=True, no_prompts=True, execution_time=at)
else:
    status = context.run(end=at, execution_time=at, skip_janitor=True)
    assert status.is_success, status
with open(DAYS, "a", encoding="ascii") as file:
    file.write(".")
