#!/usr/bin/env python3
"""Makes every system call of the set-up fail, one run for each: the launcher says what failed and ends with 125, or
the command starts just as confined as ever. Nothing is left behind either way.

    fault_injection.py AGENT_EXEC [LAUNCHER_OPTION...]

Run by root it does all of it twice, the second time as an unprivileged user. Exit status 77: strace is missing, or
cannot trace here.
"""

import concurrent.futures
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time

ERROR = "EIO"
TIMEOUT_S = 20
# Ends the process or starts another program: strace has let go of it by then.
LEFT_OUT = {"exit", "exit_group", "execve", "execveat", "restart_syscall", "rt_sigreturn"}
# Made by the C library before main, or cannot fail.
LEFT_OUT |= {"arch_prctl", "set_tid_address", "gettid", "getpid", "getppid", "getuid", "geteuid", "getgid", "getegid",
             "getpgrp", "umask"}

# What a run shows of its own confinement. All of it has to be as in a run without a failure.
COMMAND = r"""
echo started > ran
cut -d' ' -f4- /proc/self/mountinfo | sed 's/ [a-z]*:[0-9]* / /; s/workspace-[^ /]*/WORKSPACE/g; s/home-[^ /]*/HOME/g; s/max_[^ ]*//' | sort
grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status
sed 's/:.*//' /proc/net/dev
mkdir .git/x 2>&1; echo x 2>&1 > .agent-exec.toml
sh -c ': > /proc/self/fd/1' 2>&1 | sed 's/.*: //'
ulimit -n; ulimit -c; umask; id -u
env | sort | grep -v '^_=\|PWD='
ls /dev /run /tmp
"""
CALL = re.compile(r"^(\d+)\s+(\w+)\(")


def accounts():
    if os.geteuid() != 0:
        return [None]
    users = [None]
    for user in pwd.getpwall():
        if user.pw_uid >= 1000 and user.pw_uid < 60000:
            return users + [user]
    return users + [pwd.getpwnam("nobody")]


class Bench:
    """A launcher of its own, by which its processes are known, and a place for runs."""

    def __init__(self, launcher, options, user):
        self.directory = tempfile.mkdtemp(prefix="agent-exec-faults.")
        os.chmod(self.directory, 0o755)
        self.user = user
        self.launcher = os.path.join(self.directory, "launcher")
        shutil.copy(launcher, self.launcher)
        os.chmod(self.launcher, 0o755)
        self.options = options

    def own(self, path):
        if self.user:
            os.chown(path, self.user.pw_uid, self.user.pw_gid)

    def run(self, number, inject):
        """Returns (status, what the command showed or None when it did not start, messages, what was left, trace)."""
        workspace = os.path.join(self.directory, f"workspace-{number}")
        home = os.path.join(self.directory, f"home-{number}")
        out = os.path.join(self.directory, f"out-{number}")
        trace = os.path.join(self.directory, f"trace-{number}")
        for path in (workspace, home):
            os.mkdir(path, 0o755)
            self.own(path)
        open(trace, "w").close()
        self.own(trace)
        # Descriptors are handed out as in an ordinary start, and standard output is a log that is only added to.
        with open(out, "ab") as log:
            argv = ["strace", "-f", "-qq", "-b", "execve", "-o", trace]
            if inject:
                name, index = inject
                argv += ["-e", f"trace={name}", "-e", f"inject={name}:error={ERROR}:when={index}"]
            argv += [self.launcher, *self.options, "--", "/bin/sh", "-c", COMMAND]
            child = subprocess.Popen(
                argv, cwd=workspace, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.PIPE,
                env={"PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8"},
                user=self.user.pw_uid if self.user else None, group=self.user.pw_gid if self.user else None,
                extra_groups=[] if self.user else None, start_new_session=True)
            try:
                messages = child.communicate(timeout=TIMEOUT_S)[1].decode(errors="replace")
                status = child.returncode
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, 9)
                messages = child.communicate()[1].decode(errors="replace")
                status = "no end"
        with open(out, errors="replace") as file:
            shown = file.read().replace(f"workspace-{number}", "WORKSPACE").replace(f"home-{number}", "HOME")
        started = os.path.exists(os.path.join(workspace, "ran"))
        left = self.left_in(workspace)
        with open(trace, errors="replace") as file:
            lines = file.read().splitlines()
        for path in (workspace, home):
            shutil.rmtree(path)
        for path in (out, trace):
            os.unlink(path)
        return status, shown if started else None, messages, left, lines

    @staticmethod
    def left_in(workspace):
        # The one that removes placeholders where no supervisor stays needs a moment.
        for _ in range(40):
            left = sorted(set(os.listdir(workspace)) - {"ran"})
            if not left:
                return []
            time.sleep(0.05)
        return left

    def processes(self):
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                if os.readlink(f"/proc/{entry}/exe").startswith(self.launcher):
                    found.append(entry)
            except OSError:
                pass
        return found


def calls_of_set_up(lines):
    """How often each call is made, by the process that makes it most, until the command is executed."""
    counts = {}
    last = max((i for i, line in enumerate(lines) if "execve(" in line), default=len(lines))
    for line in lines[:last]:
        match = CALL.match(line)
        if match and match[2] not in LEFT_OUT:
            counts.setdefault(match[2], {}).setdefault(match[1], 0)
            counts[match[2]][match[1]] += 1
    return {name: max(by_process.values()) for name, by_process in counts.items()}


def judge(name, index, result, reference):
    status, shown, messages, left, lines = result
    what = f"{name} #{index}"
    problems = []
    if shown is None:
        # 126 and 127 say that the command itself could not be found.
        if status not in (125, 126, 127):
            problems.append(f"{what}: not started, but status {status}")
        said_nothing = any("INJECTED" in line and f"{name}(2, " in line for line in lines)
        if not said_nothing and not re.search(r"^agent-exec: cannot \S.*\S", messages, re.M):
            problems.append(f"{what}: refused without a message")
    else:
        expected = set(reference.splitlines())
        missing = [line for line in shown.splitlines() if line not in expected]
        lost = [line for line in expected if line not in shown.splitlines()]
        if missing or lost:
            problems.append(f"{what}: started, and is not confined as before: now {missing}, before {lost}")
        if status != 0:
            problems.append(f"{what}: started, and status {status}: {messages.strip()}")
    if left:
        problems.append(f"{what}: left {left}")
    return problems


def check(launcher, options, user):
    bench = Bench(launcher, options, user)
    who = user.pw_name if user else "root" if os.geteuid() == 0 else "the caller"
    try:
        status, reference, messages, _, lines = bench.run(0, None)
        if reference is None or status != 0:
            print(f"SKIP: no reference run as {who}: status {status}: {messages.strip()}")
            return None
        jobs = [(name, index) for name, count in sorted(calls_of_set_up(lines).items())
                for index in range(1, count + 1)]
        problems, refused = [], 0
        with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
            results = pool.map(lambda job: (job[1], bench.run(job[0], job[1])), enumerate(jobs, start=1))
            for (name, index), result in results:
                refused += result[1] is None
                problems += judge(name, index, result, reference)
        time.sleep(0.2)
        if bench.processes():
            problems.append(f"left processes {bench.processes()}")
        print(f"as {who}: {len(jobs)} calls failed in turn: {refused} refused, {len(jobs) - refused} started")
        if refused * 3 < len(jobs):
            problems.append("hardly anything was refused: nothing was injected")
        for problem in problems:
            print(problem)
        return not problems
    finally:
        shutil.rmtree(bench.directory, ignore_errors=True)


def main():
    launcher, options = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if not shutil.which("strace"):
        print("SKIP: strace is not installed")
        return 77
    verdicts = [check(launcher, options, user) for user in accounts()]
    if None in verdicts and not any(verdict is False for verdict in verdicts):
        return 77
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
