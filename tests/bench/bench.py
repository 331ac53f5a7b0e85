#!/usr/bin/env python3
"""What a start costs, as ratios inside one run.

    bench.py --agent-exec build/agent-exec --start-bench build/tests/bench/start_bench [--runs N] [--check]

Contenders take turns, so that a busy machine meets all of them alike; every figure is the median of ratios (or of
differences) run by run. With --check the exit status is 1 when a bar is missed.
"""

import argparse
import base64
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

TRUE = shutil.which("true", path="/usr/bin:/bin")
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}


def write_spec(path, argv, env, descriptors=()):
    words = [f"F{number}={source}" for number, source in descriptors]
    words += [f"E{name}={value}" for name, value in env.items()]
    words += ["A" + word for word in argv]
    with open(path, "wb") as file:
        file.write(b"".join(os.fsencode(word) + b"\0" for word in words))
    return path


def medians(args, options, specs, runs):
    out = subprocess.run([args.start_bench, *options, *([str(runs)] if runs else []), *specs],
                         check=True, stdout=subprocess.PIPE, text=True, cwd=args.workspace).stdout
    numbers = [float(line) for line in out.split()]
    size = len(numbers) // len(specs)
    return [numbers[i * size:(i + 1) * size] for i in range(len(specs))]


def wrapped_by_hand(args, directory, env):
    """A spec of bwrap with the very arguments that --print shows, run without the launcher."""
    printed = json.loads(subprocess.run(
        [args.agent_exec, "--backend", "bwrap", "--print=json", "--", TRUE],
        check=True, stdout=subprocess.PIPE, env=env, cwd=args.workspace).stdout)
    descriptors = []
    for step in printed["steps"]:
        if step["do"] == "pass-null":
            descriptors.append((step["fd"], "/dev/null"))
        if step["do"] == "pass-blob" and step["name"] != "bwrap-args":
            blob = os.path.join(directory, f"blob{step['fd']}")
            with open(blob, "wb") as file:
                file.write(base64.b64decode(step["base64"]))
            descriptors.append((step["fd"], blob))
    inner_env = {variable["name"]: variable["value"] for variable in printed["environment"]}
    return printed["argv"], inner_env, descriptors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent-exec", required=True)
    parser.add_argument("--start-bench", required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    args.agent_exec = os.path.abspath(args.agent_exec)
    args.start_bench = os.path.abspath(args.start_bench)
    if not shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin"):
        print("SKIP: bubblewrap is not installed")
        return 77

    failed = False

    def row(name, figure, unit, bar):
        nonlocal failed
        met = figure <= bar
        failed |= not met
        print(f"{name:58} {figure:9.3f} {unit:3} bar {bar:g}  {'met' if met else 'MISSED'}")

    with tempfile.TemporaryDirectory(prefix="agent-exec-bench.") as directory:
        args.workspace = os.path.join(directory, "workspace")
        os.mkdir(args.workspace)
        # A repository, as most workspaces are.
        os.makedirs(os.path.join(args.workspace, ".git", "hooks"))
        home = os.path.join(directory, "home")
        os.mkdir(home)
        env = dict(ENV, HOME=home)
        bare = write_spec(os.path.join(directory, "bare"), [TRUE], env)
        launcher = write_spec(os.path.join(directory, "launcher"),
                              [args.agent_exec, "--backend", "bwrap", "--", TRUE], env)
        # No missing name either, so that both run the same mounts and nothing else.
        open(os.path.join(args.workspace, ".agent-exec.toml"), "w").close()
        argv, inner_env, descriptors = wrapped_by_hand(args, directory, env)
        bwrap = write_spec(os.path.join(directory, "bwrap"), argv, inner_env, descriptors)

        times = medians(args, [], [bare, launcher, bwrap], args.runs)
        print(f"bare {statistics.median(times[0]) / 1000:.2f} ms, "
              f"agent-exec {statistics.median(times[1]) / 1000:.2f} ms, "
              f"bwrap by hand {statistics.median(times[2]) / 1000:.2f} ms, {args.runs} runs each")
        row("agent-exec --backend bwrap / bwrap with the same argv",
            statistics.median(a / b for a, b in zip(times[1], times[2])), "x", 1.15)
        start = medians(args, ["--to-exec"], [launcher], args.runs)
        row("launcher start to execve, default policy", statistics.median(start[0]) / 1000, "ms", 0.4)
        printing = write_spec(os.path.join(directory, "printing"),
                              [args.agent_exec, "--backend", "bwrap", "--print=json", "--report", "/dev/null", "--", TRUE], env)
        peak = subprocess.run([args.start_bench, "--peak", printing], check=True, stdout=subprocess.PIPE,
                              text=True, cwd=args.workspace).stdout.split()
        row("peak memory of the launcher", int(peak[-1]) / 1024, "MB", 4)
        row("binary, stripped", os.path.getsize(args.agent_exec) / 1000, "kB", 900)
    return 1 if args.check and failed else 0


if __name__ == "__main__":
    sys.exit(main())
