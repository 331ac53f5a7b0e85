#!/usr/bin/env python3
"""Runs what README.md and the manual pages show: examples_test.py SOURCE_ROOT, with AGENT_EXEC naming the binary.

A ```toml block of the README and a literal block of a page that begins with "version" must be a policy. A line of the
pages that begins with "agent-exec" must be a command line. The ```console blocks of the README are run one after
the other in one shell: what follows "$ " is typed, the rest must come out; "…" stands for anything.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

AGENT_EXEC = os.path.abspath(os.environ.get("AGENT_EXEC", "build/agent-exec"))
MARK = "-- end of example --"


def report(problems, text):
    print(f"{'not ok' if problems else 'ok'} {text}")
    for problem in problems:
        print(f"    {problem}")
    return not problems


def run(words, directory):
    env = {"PATH": f"{os.path.dirname(AGENT_EXEC)}:/usr/local/bin:/usr/bin:/bin", "HOME": directory, "LC_ALL": "C.UTF-8"}
    return subprocess.run(words, cwd=directory, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def refused(words):
    """What `--show-policy` says against a command line; it looks at no path and starts nothing."""
    with tempfile.TemporaryDirectory() as directory:
        done = run([AGENT_EXEC, "--show-policy", *words], directory)
        return [] if done.returncode == 0 else [done.stderr.strip()]


def policy_blocks(root):
    for text in re.findall(r"```toml\n(.*?)```", (root / "README.md").read_text(), re.S):
        yield "README.md", text
    for page in ("agent-exec.1", "agent-exec.toml.5"):
        for text in re.findall(r"^\.Bd -literal.*\n(version.*?)^\.Ed", (root / "man" / page).read_text(), re.S | re.M):
            yield page, text.replace("\\e", "\\").replace("\\&", "")


def check_policies(root):
    good = True
    for name, text in policy_blocks(root):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text)
            file.flush()
            good &= report(refused(["--policy", file.name]), f"{name}: {' / '.join(text.split(chr(10))[1:4])}")
    return good


def check_command_lines(root):
    good = True
    lines = re.findall(r"^agent-exec (?!unknown)(.*)$", (root / "man/agent-exec.1").read_text(), re.M)
    for line in lines:
        words = [word for word in shlex.split(line.replace("\\e", "\\")) if word not in ("--show-policy", "--print")]
        good &= report(refused(words), f"agent-exec.1: agent-exec {line}")
    return good and bool(lines)


def console_blocks(root):
    """(command, what comes out) of all blocks."""
    steps = []
    for text in re.findall(r"```console\n(.*?)```", (root / "README.md").read_text(), re.S):
        for line in text.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], []))
            else:
                steps[-1][1].append(line)
    return steps


def check_console(root):
    steps = console_blocks(root)
    with tempfile.TemporaryDirectory() as home:
        os.mkdir(f"{home}/probe")
        probe = run([AGENT_EXEC, "--workspace", "probe", "--chdir", "probe", "true"], home)
        shutil.rmtree(f"{home}/probe")
        if probe.returncode != 0:
            print(f"SKIP the tour: {probe.stderr.strip()}")
            return True
        script = "".join(f"{command}\necho '{MARK}'\n" for command, _ in steps)
        done = run(["bash", "-c", f"exec 2>&1\n{script}"], home)
    good = True
    for (command, wanted), came in zip(steps, done.stdout.split(MARK + "\n")):
        pattern = ".*".join(re.escape(part) for part in "".join(line + "\n" for line in wanted).split("…"))
        right = re.fullmatch(pattern, came, re.S)
        good &= report([] if right else [f"came out: {came!r}"], f"README.md: $ {command}")
    return good and bool(steps)


def main():
    root = pathlib.Path(sys.argv[1])
    results = [check_policies(root), check_command_lines(root), check_console(root)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
