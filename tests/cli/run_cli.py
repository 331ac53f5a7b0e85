#!/usr/bin/env python3
"""Tests of the built binary's command line, text in and text out: run_cli.py SUITE, with AGENT_EXEC naming the binary.

SUITE is command-lines, policies or verbs. One line per check. What has to be refused must not have started anything: the
command is `touch MARK`, and there must be no MARK.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

AGENT_EXEC = os.path.abspath(os.environ.get("AGENT_EXEC", "build/agent-exec"))
HERE = pathlib.Path(__file__).parent
SKIPPED = []


class Place:
    """A workspace and a home that nobody else knows."""

    def __enter__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="agent-exec-cli-"))
        self.work, self.home = self.top / "work", self.top / "home"
        self.work.mkdir()
        self.home.mkdir()
        (self.work / "file").write_text("")
        self.mark = self.work / "MARK"
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top, ignore_errors=True)

    def run(self, *words, **env):
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LC_ALL": "C.UTF-8", **env}
        return subprocess.run([AGENT_EXEC, *words], cwd=self.work, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="surrogateescape", timeout=60)


def report(problems, text):
    print(f"{'not ok' if problems else 'ok'} {text}")
    for problem in problems:
        print(f"    {problem}")
    return not problems


def refusal_problems(place, done, parts):
    """What is wrong with a refusal: its status, its form, a part that its message lacks, anything that was started."""
    problems = []
    if done.returncode != 125:
        problems.append(f"status {done.returncode}, not 125")
    # What is wrong with a policy file as a whole has the file itself for its place.
    if not re.match(r"agent-exec: (policy file '.+|.+ \(.+\))\n(  hint: .+\n)?\Z", done.stderr):
        problems.append("no message of one line with a place, and at most a hint")
    problems += [f"the message lacks {part!r}" for part in parts if part not in done.stderr]
    if done.stdout:
        problems.append(f"on standard output: {done.stdout!r}")
    if place.mark.exists():
        problems.append("the command was started")
    leftover = sorted(entry.name for entry in place.work.iterdir())
    if [name for name in leftover if name not in ("file", "MARK", "policy.toml", ".agent-exec.toml")]:
        problems.append(f"left in the workspace: {leftover}")
    return problems + ([f"message: {done.stderr!r}"] if problems else [])


def command_lines():
    good = True
    for line in (HERE / "bad_command_lines.txt").read_text().splitlines():
        if "=>" not in line or line.startswith("#"):
            continue
        words, expected = line.rsplit("=>", 1)
        with Place() as place:
            done = place.run(*shlex.split(words))
            parts = [part.strip() for part in expected.split(" | ")]
            good &= report(refusal_problems(place, done, parts), f"agent-exec {words.strip()}")
    return good


def read_policies():
    for block in re.split(r"^=== ", (HERE / "bad_policies.txt").read_text(), flags=re.M)[1:]:
        title, _, rest = block.partition("\n")
        settings = dict(re.findall(r"^: (\w+) ?(.*)\n", rest, re.M))
        yield title, settings, re.sub(r"^: .*\n", "", rest, flags=re.M)


def policies():
    good = True
    for title, settings, text in read_policies():
        with Place() as place:
            is_workspace = "workspace" in settings
            (place.home / ".config/agent-exec").mkdir(parents=True)
            (place.home / ".config/agent-exec/policy.toml").write_text('version = 1\nlimits.tmp-size = "64MiB"\n')
            (place.work / (".agent-exec.toml" if is_workspace else "policy.toml")).write_text(text)
            words = shlex.split(settings.get("args", "")) + ([] if is_workspace else ["--policy", "policy.toml"])
            done = place.run(*words, "--", "touch", "MARK")
            parts = [part.strip() for part in settings["expect"].split(" | ")]
            good &= report(refusal_problems(place, done, parts), title)
    return good & odd_files()


def odd_files():
    """Policies that a table of texts cannot hold."""
    def write(content):
        return lambda path: path.write_bytes(content)

    def mode(bits):
        def make(path):
            path.write_text("version = 1\n")
            path.chmod(bits)
        return make

    def stranger(path):
        path.write_text("version = 1\n")
        os.chown(path, 61234, 61234)

    def link_out(path):
        (path.parent.parent / "elsewhere.toml").write_text("version = 1\n")
        path.symlink_to("../elsewhere.toml")

    deep = "version = 1\n[env]\nset = " + "{ a = " * 100 + "1" + " }" * 100 + "\n"
    cases = [
        ("bytes that are not UTF-8", write(b'version = 1\nmode = "\xff\xfe"\n'), ["policy.toml:2:"]),
        ("a NUL byte", write(b"version = 1\n\0\n"), ["policy.toml:2:"]),
        ("more than a megabyte", write(b"version = 1\n" + b"#" * (1 << 20)), ["policy.toml"]),
        ("tables a hundred deep", write(deep.encode()), ["policy.toml:3:"]),
        ("arrays a hundred deep", write(b"version = 1\nx = " + b"[" * 100 + b"]" * 100), ["policy.toml:2:"]),
        ("a file that everybody can write", mode(0o666), ["policy.toml", "chmod"]),
        ("a file of somebody else", stranger, ["policy.toml", "61234"]),
        ("a directory", lambda path: path.mkdir(), ["policy.toml"]),
        ("a FIFO", lambda path: os.mkfifo(path), ["policy.toml"]),
        ("a missing file", lambda path: None, ["policy.toml"]),
    ]
    if os.geteuid() != 0:
        cases = [case for case in cases if case[1] is not stranger]
    good = True
    for title, make, parts in cases:
        with Place() as place:
            make(place.work / "policy.toml")
            done = place.run("--policy", "policy.toml", "--", "touch", "MARK")
            good &= report(refusal_problems(place, done, parts), title)
    # The workspace's own file may belong to anybody, but is not followed out of the workspace.
    with Place() as place:
        link_out(place.work / ".agent-exec.toml")
        done = place.run("--", "touch", "MARK")
        good &= report(refusal_problems(place, done, [".agent-exec.toml"]), "the workspace's file as a link that leaves it")
    return good


def expect(done, status, out=None, parts=()):
    problems = []
    if done.returncode != status:
        problems.append(f"status {done.returncode}, not {status}")
    if out is not None and done.stdout != out:
        problems.append(f"printed {done.stdout!r}")
    problems += [f"output lacks {part!r}" for part in parts if part not in done.stdout]
    return problems + ([f"stdout {done.stdout[:400]!r}", f"stderr {done.stderr[:400]!r}"] if problems else [])


def no_start(place, problems):
    return problems + (["the command was started"] if place.mark.exists() else [])


def is_json(text):
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def needs_backend(place, text):
    """Whether this host can build a sandbox; if not, the check is skipped."""
    done = place.run("--", "true")
    if done.returncode == 0:
        return True
    print(f"SKIP {text}: {done.stderr.strip()}")
    SKIPPED.append(text)
    return False


def verbs():
    results = []

    def check(text, function):
        with Place() as place:
            results.append(report(function(place), text))

    for words in (["--help"], ["-h"], ["-qh"], ["--help", "--nonsense"]):
        check(f"{' '.join(words)} prints the options", lambda place, words=words:
              expect(place.run(*words), 0, None, ["usage: agent-exec [OPTION...] [--] COMMAND [ARG...]\n", "--deny-read PATH"]))
    check("--version prints name and number", lambda place:
          [] if re.fullmatch(r"agent-exec \d+\.\d+\.\d+\n", place.run("--version").stdout) else ["it does not"])
    check("--print-schema prints a JSON schema", lambda place:
          [] if is_json(place.run("--print-schema").stdout) else ["it does not"])

    check("--show-policy names the place of each value", lambda place:
          expect(place.run("--mode", "read-only", "--deny-read", "secret", "--show-policy"), 0, None,
                 ['mode = "read-only"', "--mode", '"secret"', "--deny-read"]))
    check("--show-policy needs no sandbox and starts nothing", lambda place:
          no_start(place, expect(place.run("--show-policy", "--", "touch", "MARK"), 0)))
    check("--show-policy gives a policy that can be read again", show_policy_round)

    for form in ("", "=argv", "=json", "=script"):
        check(f"--print{form} prints and starts nothing", lambda place, form=form: print_problems(place, form))
    check("--print=argv can be run by a shell", print_argv_runs)

    check("an error as JSON has message, place, hint and status", lambda place:
          json_error(place, ["--error-format", "json", "--mod", "x"]))
    check("the error format holds for errors that stand before it", lambda place:
          json_error(place, ["--mod", "x", "--error-format=json"]))
    check("a command that does not exist is 127", lambda place:
          expect(place.run("--", "no-such-command-anywhere"), 127) if needs_backend(place, "127") else [])
    check("a command that is not executable is 126", lambda place:
          expect(place.run("--", "./file"), 126) if needs_backend(place, "126") else [])
    check("the command's own status and output pass", lambda place:
          expect(place.run("--", "sh", "-c", "echo out; exit 42"), 42, "out\n") if needs_backend(place, "status") else [])
    check("the command's flags are its own", lambda place:
          expect(place.run("printf", "%s|", "--mode", "x", "--", "-q"), 0, "--mode|x|--|-q|")
          if needs_backend(place, "flags") else [])
    check("a profile of a file can be chosen", chosen_profile)
    return all(results)


def show_policy_round(place):
    first = place.run("--deny-read", "secret", "--env", "A=b", "--limit", "tmp-size=64MiB", "--show-policy")
    (place.work / "policy.toml").write_text(first.stdout)
    second = place.run("--policy", "policy.toml", "--show-policy")
    problems = expect(first, 0) + expect(second, 0)
    for value in ('"secret"', "A = ", '"64MiB"'):
        if value not in second.stdout:
            problems.append(f"the second output lacks {value}")
    return problems


def print_problems(place, form):
    if not needs_backend(place, f"--print{form}"):
        return []
    done = place.run(f"--print{form}", "--", "touch", "MARK")
    problems = no_start(place, expect(done, 0, None, ["MARK"]))
    if form == "=json" and not is_json(done.stdout):
        problems.append("it is no JSON object")
    return problems


def print_argv_runs(place):
    # The launcher's own sandbox is no command's.
    wrapped = ("--backend", "bwrap", "--print=argv")
    if shutil.which("bash") is None or not needs_backend(place, "--print=argv"):
        return []
    done = place.run(*wrapped, "--", "sh", "-c", 'printf "%s\\n" "$0" "it'"'"'s"', "a b")
    shell = subprocess.run(["bash"], input=done.stdout, cwd=place.work, capture_output=True, text=True, timeout=60)
    return expect(shell, 0, "a b\nit's\n")


def json_error(place, words):
    done = place.run(*words, "--", "touch", "MARK")
    problems = no_start(place, expect(done, 125, ""))
    try:
        error = json.loads(done.stderr)
    except ValueError:
        return problems + [f"no JSON: {done.stderr!r}"]
    wanted = {"error": "unknown option '--mod'", "hint": "did you mean '--mode'?", "status": 125}
    problems += [f"{key} is {error.get(key)!r}" for key, value in wanted.items() if error.get(key) != value]
    return problems + ([] if "argument" in error.get("place", "") else ["no place"])


def chosen_profile(place):
    (place.work / "policy.toml").write_text('version = 1\n[profile.mine]\nenv.set = { A = "from mine" }\n')
    return expect(place.run("--policy", "policy.toml", "--profile", "mine", "--show-policy"), 0, None, ['"from mine"'])


def main():
    suites = {"command-lines": command_lines, "policies": policies, "verbs": verbs}
    if len(sys.argv) != 2 or sys.argv[1] not in suites:
        sys.exit(f"usage: run_cli.py {'|'.join(suites)}")
    return 0 if suites[sys.argv[1]]() else 1


if __name__ == "__main__":
    sys.exit(main())
