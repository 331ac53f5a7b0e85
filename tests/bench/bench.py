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
import time

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


def wrapped_by_hand(args, directory, env, options=()):
    """The argv, environment and descriptors of bwrap with the very arguments that --print shows, without the launcher."""
    printed = json.loads(subprocess.run(
        [args.agent_exec, "--backend", "bwrap", *options, "--print=json", "--", TRUE],
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


def print_medians(names, times, runs):
    print(", ".join(f"{name} {statistics.median(series) / 1000:.2f} ms" for name, series in zip(names, times))
          + f", {runs} runs each")


def overhead(contender, bare, reference):
    """What the contender costs over the bare command, as a share of what the reference does, run by run."""
    return statistics.median((c - b) / (r - b) for c, b, r in zip(contender, bare, reference))


def starts(args, directory, env, row):
    bare = write_spec(os.path.join(directory, "bare"), [TRUE], env)
    by_bwrap = write_spec(os.path.join(directory, "launcher"), [args.agent_exec, "--backend", "bwrap", "--", TRUE], env)
    native = write_spec(os.path.join(directory, "native"), [args.agent_exec, "--backend", "native", "--", TRUE], env)
    in_place = write_spec(os.path.join(directory, "in-place"),
                          [args.agent_exec, "--backend", "native", "--in-place", "--", TRUE], env)
    argv, inner_env, descriptors = wrapped_by_hand(args, directory, env)
    bwrap = write_spec(os.path.join(directory, "bwrap"), argv, inner_env, descriptors)

    times = medians(args, [], [bare, by_bwrap, bwrap, native, in_place], args.runs)
    print_medians(["bare", "agent-exec on bwrap", "bwrap by hand", "native", "in place"], times, args.runs)
    row("agent-exec --backend bwrap / bwrap with the same argv",
        statistics.median(a / b for a, b in zip(times[1], times[2])), "x", 1.15)
    row("native, overhead / bwrap's with the same mounts", overhead(times[3], times[0], times[2]), "x", 0.35)
    row("native --in-place, overhead / bwrap's", overhead(times[4], times[0], times[2]), "x", 0.30)
    start = medians(args, ["--to-exec"], [by_bwrap], args.runs)
    row("launcher start to execve, default policy", statistics.median(start[0]) / 1000, "ms", 0.4)
    printing = write_spec(
        os.path.join(directory, "printing"),
        [args.agent_exec, "--backend", "bwrap", "--print=json", "--report", "/dev/null", "--", TRUE], env)
    peak = subprocess.run([args.start_bench, "--peak", printing], check=True, stdout=subprocess.PIPE,
                          text=True, cwd=args.workspace).stdout.split()
    row("peak memory of the launcher", int(peak[-1]) / 1024, "MB", 4)
    row("binary, stripped", os.path.getsize(args.agent_exec) / 1000, "kB", 900)


def many_paths(args, directory, env, row, runs=3):
    """Thousands of read-only paths in a writable workspace."""
    for count in (2000, 200):
        names = [f"protected/{number}" for number in range(count)]
        os.makedirs(os.path.join(args.workspace, "protected"), exist_ok=True)
        for name in names:
            open(os.path.join(args.workspace, name), "w").close()
        policy = os.path.join(directory, "many.toml")
        with open(policy, "w") as file:
            file.write("[filesystem]\ndeny-write = [" + ", ".join(f'"{name}"' for name in names) + "]\n")
        options = ["--policy", policy]
        argv, inner_env, descriptors = wrapped_by_hand(args, directory, env, options)
        bwrap = write_spec(os.path.join(directory, "bwrap-many"), argv, inner_env, descriptors)
        native = write_spec(os.path.join(directory, "native-many"),
                            [args.agent_exec, "--backend", "native", *options, "--", TRUE], env)
        try:
            times = medians(args, [], [native, bwrap], runs)
        except subprocess.CalledProcessError:
            continue  # more arguments than bwrap takes
        finally:
            shutil.rmtree(os.path.join(args.workspace, "protected"))
        print_medians([f"{count} read-only paths: native", "bwrap by hand"], times, runs)
        row(f"native with {count} read-only paths / bwrap", statistics.median(a / b for a, b in zip(*times)), "x", 0.02)
        return
    raise SystemExit("bwrap failed with 200 paths")


def opens(args, env, row, rounds=7):
    """What an open costs inside: the mounts are the kernel's, Landlock and the filter are ours."""
    path = os.path.join(args.workspace, "opened")
    open(path, "w").close()
    probe = [args.start_bench, "--opens", path]
    wrapped = [args.agent_exec, "--backend", "native", "--read", args.start_bench, "--", *probe]
    bare, inside = [], []
    for _ in range(rounds):
        for argv, into in ((probe, bare), (wrapped, inside)):
            into.append(float(subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, env=env,
                                             cwd=args.workspace).stdout))
    print(f"open: bare {min(bare):.0f} ns, inside {min(inside):.0f} ns")
    row("open and close inside, over bare", (min(inside) - min(bare)) / 1000, "us", 0.15)


def build(args, env, row, rounds=7):
    """A build of 60 small C files, each by a compiler of its own, as make starts them."""
    compiler = shutil.which("cc", path=env["PATH"])
    make = shutil.which("make", path=env["PATH"])
    if not compiler or not make:
        print("SKIP the build of 60 files: no cc or no make")
        return
    tree = os.path.join(args.workspace, "build")
    os.mkdir(tree)
    for number in range(60):
        with open(os.path.join(tree, f"f{number}.c"), "w") as file:
            file.write("#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n"
                       f"int f{number}(const char *s) {{ return (int)strlen(s) + {number}; }}\n")
    with open(os.path.join(tree, "Makefile"), "w") as file:
        file.write("OBJECTS := $(patsubst %.c,%.o,$(wildcard *.c))\nall: $(OBJECTS)\n"
                   "%.o: %.c\n\t@cc -O1 -c -o $@ $<\n")
    command = [make, "-s", "-C", tree]
    wrapped = [args.agent_exec, "--backend", "native", "--", *command]
    ratios = []
    for round_number in range(rounds + 1):
        seconds = []
        for argv in (command, wrapped) if round_number % 2 else (wrapped, command):
            for name in os.listdir(tree):
                if name.endswith(".o"):
                    os.unlink(os.path.join(tree, name))
            start = time.monotonic()
            subprocess.run(argv, check=True, env=env, cwd=args.workspace)
            seconds.append(time.monotonic() - start)
        bare, inside = seconds if round_number % 2 else seconds[::-1]
        if round_number > 0:  # the first warms the caches
            ratios.append(inside / bare)
    print(f"build of 60 files: bare {bare:.2f} s, inside {inside:.2f} s in the last of {rounds} rounds")
    row("build of 60 small C files inside / bare", statistics.median(ratios), "x", 1.03)


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
        # No missing name either, so that all run the same mounts and nothing else.
        open(os.path.join(args.workspace, ".agent-exec.toml"), "w").close()
        starts(args, directory, env, row)
        many_paths(args, directory, env, row)
        opens(args, env, row)
        build(args, env, row)
    return 1 if args.check and failed else 0


if __name__ == "__main__":
    sys.exit(main())
