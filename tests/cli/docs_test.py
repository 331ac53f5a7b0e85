#!/usr/bin/env python3
"""Makes man/ and completions/ anew from the settings table and compares them with what is kept there.

    docs_test.py GEN_DOCS SOURCE_ROOT

With AGENT_EXEC_ACCEPT=1 the files are rewritten instead. One line per check.
"""

import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys

MADE = {
    "completions/agent-exec.bash": "bash",
    "completions/_agent-exec": "zsh",
    "completions/agent-exec.fish": "fish",
}
PAGES = ["man/agent-exec.1", "man/agent-exec.toml.5"]


def make(gen_docs, name):
    return subprocess.run([gen_docs, name], check=True, capture_output=True, text=True).stdout


def make_page(gen_docs, source):
    """A line that holds @NAME@ alone stands for the text man-name."""
    return re.sub(r"^@([A-Z]+)@\n", lambda place: make(gen_docs, "man-" + place[1].lower()), source, flags=re.M)


def report(good, text, details=()):
    print(f"{'ok' if good else 'not ok'} {text}")
    for line in details:
        print(f"    {line.rstrip()}")
    return good


def check_file(path, made):
    old = path.read_text() if path.exists() else ""
    if made == old:
        return report(True, f"{path.name} is what the tables give")
    if os.environ.get("AGENT_EXEC_ACCEPT"):
        path.write_text(made)
        return report(True, f"{path.name} was rewritten")
    changes = list(difflib.unified_diff(old.splitlines(), made.splitlines(), "kept", "made", lineterm="", n=0))
    return report(False, f"{path.name} is stale; AGENT_EXEC_ACCEPT=1 rewrites it", changes[:20])


def check_lint(path):
    if shutil.which("mandoc") is None:
        print(f"SKIP lint of {path.name}: no mandoc here")
        return True
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", str(path)], capture_output=True, text=True)
    # Other pages that are not installed here are no fault of this one.
    found = [line for line in (done.stdout + done.stderr).splitlines()
             if "referenced manual not found" not in line and "outdated mandoc.db" not in line]
    return report(not found, f"{path.name} has no faults", found[:20])


def main():
    gen_docs, root = sys.argv[1], pathlib.Path(sys.argv[2])
    results = [check_file(root / name, make(gen_docs, text)) for name, text in MADE.items()]
    for name in PAGES:
        made = make_page(gen_docs, (root / (name + ".in")).read_text())
        results += [check_file(root / name, made), check_lint(root / name)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
