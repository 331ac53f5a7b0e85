#!/usr/bin/env python3
"""Runs the acceptance cases that lie beside a checkout, where they do, and holds them against known_bad.tsv.

    run_cases.py SOURCE_ROOT        with AGENT_EXEC naming the binary

A case that fails and is not listed, or is listed and does not fail, is a failure here. Exit status 77: no cases beside this checkout.
"""

import os
import pathlib
import subprocess
import sys


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    runner = root.parent / "shared" / "cases" / "run"
    if not runner.exists():
        print("SKIP: no acceptance cases beside this checkout")
        return 77
    listed = {}
    for line in (root / "tests/cases/known_bad.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            name, who, reason = line.split("\t")
            listed[name, who] = reason
    done = subprocess.run(["bash", str(runner), "--launcher", os.path.abspath(os.environ["AGENT_EXEC"]), "--tsv", "--jobs", "2"],
                          stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 3]
    status = 0
    seen = set()
    for name, who, verdict, text in rows:
        seen.add((name, who))
        known = listed.get((name, who))
        if verdict == "BAD" and known is None:
            print(f"not ok {who} {name}: {text}")
            status = 1
        elif verdict == "GOOD" and known is not None and not known.startswith("either:"):
            print(f"not ok {who} {name}: is good now, and known_bad.tsv still lists it ({known})")
            status = 1
        elif verdict == "BAD":
            print(f"known  {who} {name}: {known}")
    for name, who in sorted(set(listed) - seen):
        if os.geteuid() == 0:
            print(f"not ok {who} {name}: listed in known_bad.tsv, and no such case ran")
            status = 1
    print(f"{len(rows)} cases, {sum(1 for row in rows if row[2] == 'GOOD')} good, {sum(1 for row in rows if row[2] == 'SKIP')} skipped")
    return status if rows else 1


if __name__ == "__main__":
    sys.exit(main())
