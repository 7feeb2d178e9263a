#!/usr/bin/env python3
"""Runs the SQL of README.md and docs/*.md and compares the output shown.

    make docs-test                              all pages
    make docs-test FILES=docs/page.md           one page
    make docs-test FILES="--update docs/page.md"

Each page is one psql session in a database of its own, where the extension has
been created unless the page does that itself. Its ```sql blocks run in order:

  - A block followed at once by a ```text (or ```console) block must print just
    that: results, NOTICE and ERROR lines, as psql --quiet prints them; trailing
    blanks do not count. --update rewrites such blocks from the real output.
  - A block whose first line is "-- error: SQLSTATE" must fail with that state.
  - Any other error fails the page. There is no way to skip a ```sql block.

Ends with "N passed, N failed", counting pages.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>.*)$")
PSQL = os.path.join(os.environ.get("DAYBOOK_BINDIR", ""), "psql")
MARK = "---- end of block, state "


class Block:
    """One fenced block: lines[start:end] is what stands between the fences."""

    def __init__(self, indent, info, start, end, lines):
        self.indent, self.info, self.start, self.end = indent, info, start, end
        self.text = [line.removeprefix(indent) for line in lines[start:end]]
        self.output = None  # the block with the output expected from this one

    def expected_state(self):
        found = re.match(r"-- error: (\w{5})\s*$", self.text[0] if self.text else "")
        return found.group(1) if found else "00000"


def sql_blocks(lines):
    """The sql blocks of a page, each with its output block if it has one."""
    blocks, opened = [], None
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if not fence:
            continue
        if opened is None:
            opened = (fence["indent"], fence["info"].strip(), number + 1)
        elif not fence["info"].strip():
            blocks.append(Block(*opened, number, lines))
            opened = None
    if opened:
        raise ValueError(f"line {opened[2]}: block without an end")

    for block, after in zip(blocks, blocks[1:] + [None]):
        if block.info.split()[:1] == ["sql"] and block.info != "sql":
            raise ValueError(f"line {block.start}: plain ```sql only, not ```{block.info}")
        if after and after.info in ("text", "console"):
            if not "".join(lines[block.end + 1 : after.start - 1]).strip():
                block.output = after
    return [block for block in blocks if block.info == "sql"]


def psql(database, *arguments):
    return subprocess.run(
        [PSQL, "--no-psqlrc", "--quiet", "--dbname", database, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=600,
    )


def run(blocks, name):
    """Runs the blocks in one session; returns (output lines, last SQLSTATE) of each."""
    database = "docs_" + re.sub(r"\W", "_", name.removesuffix(".md")).lower()
    setup = [f'DROP DATABASE IF EXISTS "{database}"', f'CREATE DATABASE "{database}"']
    done = psql("postgres", *(f"--command={command}" for command in setup))
    text = "\n".join(line for block in blocks for line in block.text)
    if not done.returncode and not re.search(r"^ *create extension.*\bdaybook\b", text, re.I | re.M):
        done = psql(database, "--command=CREATE EXTENSION daybook")
    if done.returncode:
        raise ValueError(done.stdout.strip())

    with tempfile.TemporaryDirectory() as directory:
        # A file for each block: one that lacks its end cannot swallow the next.
        session = []
        for number, block in enumerate(blocks):
            Path(directory, str(number)).write_text("\n".join(block.text) + "\n")
            session += [
                "\\set LAST_ERROR_SQLSTATE 00000",
                f"\\i {directory}/{number}",
                f"\\echo '{MARK}' :LAST_ERROR_SQLSTATE",
            ]
        Path(directory, "session").write_text("\n".join(session) + "\n")
        said = psql(database, "--file", f"{directory}/session").stdout

    said = re.sub(rf"^psql:{re.escape(directory)}/\w+:\d+: ", "", said, flags=re.M)
    results, output = [], []
    for line in said.splitlines():
        if line.startswith(MARK):
            results.append((output, line.split()[-1]))
            output = []
        else:
            output.append(line.rstrip())
    if len(results) != len(blocks):
        raise ValueError("the session ended early:\n" + "\n".join(output))
    return results


def strip_end(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def check(page, update):
    """Returns what is wrong with a page, as lines."""
    name = str(page.relative_to(ROOT))
    lines = page.read_text().splitlines()
    blocks = sql_blocks(lines)
    if not blocks:
        return []
    wrong, edits = [], []
    for block, (output, state) in zip(blocks, run(blocks, page.name)):
        output = strip_end(output)
        where = f"{name}:{block.start}: "
        if state != block.expected_state():
            wrong += [where + f"SQLSTATE {state}, not {block.expected_state()}", *output]
        elif block.output is None:
            continue
        elif output != strip_end(block.output.text):
            edits.append((block.output, output))
            if not update:
                wrong.append(where + "other output than shown")
                wrong += list(difflib.unified_diff(
                    strip_end(block.output.text), output, "shown", "real", lineterm=""))[2:]
    if update and edits:
        for block, output in reversed(edits):
            lines[block.start : block.end] = [(block.indent + line).rstrip() for line in output]
        page.write_text("\n".join(lines) + "\n")
    return wrong


def main(arguments):
    update = "--update" in arguments
    pages = [Path(name).resolve() for name in arguments if name != "--update"]
    if not pages:
        pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    failed = 0
    for page in pages:
        try:
            wrong = check(page, update)
        except (ValueError, OSError, subprocess.TimeoutExpired) as error:
            wrong = [str(error)]
        print("FAILED " if wrong else "ok     ", page.relative_to(ROOT))
        print("".join(line + "\n" for line in wrong), end="", flush=True)
        failed += bool(wrong)
    print(f"{len(pages) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
