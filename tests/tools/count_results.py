#!/usr/bin/env python3
"""Prints 'N passed, N failed, N skipped' from Meson's log of one test run.

Usage: count_results.py LOG.json. The exit status is 0 only if tests ran and none failed.
"""

import collections
import json
import sys

OUTCOMES = {'OK': 'passed', 'EXPECTEDFAIL': 'passed', 'SKIP': 'skipped', 'IGNORED': 'skipped'}


def main():
    counts = collections.Counter()
    with open(sys.argv[1], encoding='utf-8') as log:
        for line in log:
            test = json.loads(line)
            outcome = OUTCOMES.get(test['result'], 'failed')
            counts[outcome] += 1
            if outcome == 'failed':
                print(f"failed: {test['name']} ({test['result']})")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 0 if counts['passed'] and not counts['failed'] else 1


if __name__ == '__main__':
    sys.exit(main())
