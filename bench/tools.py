"""Other tools that keep history. They are fetched from PyPI; without it, they are left out."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

from measure import Log, Took, of_ended_processes

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("DAYBOOK_CACHE") or os.path.expanduser("~/.cache/daybook")


class Tool:
    """A tool that is run as a process. What counts is the time that the server spends on the statements it sends."""

    def __init__(self, session, name, package, command, table, current, aim):
        self.session, self.name, self.package, self.command = session, name, package, command
        self.table, self.current, self.aim = table, current, aim  # a query for the table's name, the condition of current rows
        self.packages = os.path.join(CACHE, "bench", name)
        self.project = tempfile.TemporaryDirectory(prefix=f"daybook-{name}-")
        shutil.copytree(os.path.join(HERE, name), self.project.name, dirs_exist_ok=True)
        session.run(f"create role {name} superuser login; alter role {name} set log_min_duration_statement = 0")

    def environment(self):
        return {**os.environ, "PYTHONPATH": self.packages, "PYTHONDONTWRITEBYTECODE": "1",
                "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "true"}

    def install(self):
        """Installs the tool beside the build, once. Says whether it is there."""
        requirements = os.path.join(HERE, self.name, "requirements.txt")
        stamp = os.path.join(self.packages, "requirements.txt")
        with open(requirements, encoding="utf-8") as file:
            wanted = file.read()
        if os.path.exists(stamp):
            with open(stamp, encoding="utf-8") as file:
                if file.read() == wanted:
                    return True
        shutil.rmtree(self.packages, ignore_errors=True)
        print(f"installing {self.package}", file=sys.stderr)
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-warn-conflicts",
             "--retries", "1", "--target", self.packages, "--requirement", requirements],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"{self.package} is left out: pip could not install it from PyPI")
            shutil.rmtree(self.packages, ignore_errors=True)
            return False
        shutil.copyfile(requirements, stamp)
        return True

    def version(self):
        return subprocess.run(
            [sys.executable, "-c", f"from importlib.metadata import version; print(version('{self.package}'))"],
            env=self.environment(), stdout=subprocess.PIPE, text=True, check=True).stdout.strip()

    def run(self):
        """Runs the tool once. The server logs its statements and how long each took."""
        log, ended = Log(), of_ended_processes()
        done = subprocess.run([sys.executable, *self.command], cwd=self.project.name, env=self.environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{self.package} failed:\n{done.stdout}")
        while self.session.run(f"select 1 from pg_stat_activity where usename = '{self.name}'"):
            time.sleep(0.01)
        time.sleep(0.05)
        return Took(log.seconds(self.name), of_ended_processes() - ended)


def tools(session):
    """Those that can be had."""
    known = [
        Tool(session, "dbt", "dbt-core", ["-m", "dbt.cli.main", "--quiet", "snapshot", "--project-dir", ".", "--profiles-dir", "."],
             "select 'dbt.history'", "dbt_valid_to is null", 0.2),
        Tool(session, "sqlmesh", "sqlmesh", ["run.py"],
             "select oid::regclass from pg_class where relnamespace = 'sqlmesh__sqlmesh'::regnamespace and relkind = 'r'",
             "valid_to is null", None),
    ]
    return [tool for tool in known if tool.install()]
