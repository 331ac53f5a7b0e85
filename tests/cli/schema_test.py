#!/usr/bin/env python3
"""Holds good and bad policies against the schema that the binary prints; AGENT_EXEC names the binary.

77 when there is no validator (Python's jsonschema) or no TOML reader.
"""

import json
import os
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import tomllib
except ImportError as error:
    # The Python that Meson brought may be bare where another one on this machine is not.
    for place in os.environ["PATH"].split(":") if "AGENT_EXEC_TRIED" not in os.environ else []:
        python = os.path.join(place, "python3")
        if os.access(python, os.X_OK) and subprocess.run([python, "-c", "import jsonschema, tomllib"],
                                                         stderr=subprocess.DEVNULL).returncode == 0:
            os.environ["AGENT_EXEC_TRIED"] = python
            os.execv(python, [python, *sys.argv])
    print(f"SKIP: {error}")
    sys.exit(77)

AGENT_EXEC = os.path.abspath(os.environ.get("AGENT_EXEC", "build/agent-exec"))

GOOD = [
    "version = 1",
    'version = 1\nmode = "read-only"\nquiet = true\nkeep-fd = [3, 4]\nbackend = "bwrap"\nuse-profiles = ["install"]',
    'version = 1\n[filesystem]\nread = ["/"]\ndeny-write = ["a", { path = "b", missing = "allow", kind = "dir" }]\nhome = "read"',
    'version = 1\n[env]\nallow = ["LC_*"]\nset = { CI = "1" }',
    'version = 1\n[limits]\ntmp-size = "64MiB"\nfile-size = 1000000\nopen-files = 64',
    'version = 1\n[platforms]\nenabled = ["linux"]',
    'version = 1\n[profile.a]\nextends = ["b"]\nnetwork.mode = "host"\n[profile.b]\nextends = "c"\n[profile.b.filesystem]\nwrite = ["x"]',
]
BAD = [
    "version = 2",
    "version = 1\nmod = 1",
    'version = 1\nmode = "wide"',
    "version = 1\nkeep-fd = [2]",
    'version = 1\n[filesystem]\nread = "/"',
    'version = 1\n[filesystem]\ndeny-read = [""]',
    'version = 1\n[filesystem]\ndeny-write = [{ missing = "allow" }]',
    'version = 1\n[filesystem]\ndeny-write = [{ path = "x", missing = "never" }]',
    'version = 1\n[filesystem]\nnope = 1',
    "version = 1\n[env]\nset = { A = 1 }",
    'version = 1\n[limits]\ntmp-size = "lots"',
    "version = 1\n[limits]\nopen-files = 1",
    'version = 1\nweaken = ["everything"]',
    'version = 1\n[profile.a]\nmod = "x"',
    'version = 1\n[profile.a]\nprofile = {}',
]


def builtin_policies():
    """What --show-policy makes of the built-in profiles."""
    for words in (["--mode", "read-only"], ["--mode", "danger-full-access"], ["--profile", "install"],
                  ["--profile", "build"], ["--profile", "agent"]):
        with tempfile.TemporaryDirectory() as home:
            yield subprocess.run([AGENT_EXEC, *words, "--show-policy"], cwd=home, env={"HOME": home}, capture_output=True,
                                 text=True, check=True).stdout


def main():
    printed = subprocess.run([AGENT_EXEC, "--print-schema"], capture_output=True, text=True, check=True).stdout
    schema = json.loads(printed)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    good = True
    cases = [(text, True) for text in [*GOOD, *builtin_policies()]] + [(text, False) for text in BAD]
    for text, valid in cases:
        errors = [error.message for error in validator.iter_errors(tomllib.loads(text))]
        right = valid == (not errors)
        good &= right
        print(f"{'ok' if right else 'not ok'} {'valid' if valid else 'invalid'}: {' / '.join(text.strip().splitlines())[:90]}")
        for error in errors if not right else []:
            print(f"    {error}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
