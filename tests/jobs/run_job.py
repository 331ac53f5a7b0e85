#!/usr/bin/env python3
"""Does one everyday job bare and under the launcher, and compares what it printed, its status and the files it made.

    run_job.py JOB        with AGENT_EXEC naming the binary; run_job.py --list

As root each job runs as root and as an ordinary user. Exit status 77: the tools for it are not here.
"""

import hashlib
import os
import pwd
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

AGENT_EXEC = os.path.abspath(os.environ.get("AGENT_EXEC", "build/agent-exec"))
LAUNCHER = [AGENT_EXEC, "--mode", "workspace-write", *os.environ.get("AGENT_EXEC_FLAGS", "").split(), "--"]
ORDINARY_UID = 61234  # nobody's: only files that the test made belong to it


class Skip(Exception):
    pass


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(f"no {tool} here")


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


# Each job: prepare(directory) lays the files; `steps` are run one by one; `ignore` names what differs between two bare runs too.
class Job:
    tools = ()
    steps = ()
    ignore = r"$^"

    def prepare(self, directory):
        raise NotImplementedError

    def normalize(self, text):
        return text


class CProject(Job):
    """unpack, configure, make -j2, make check, make install"""
    tools = ("tar", "make", "cc", "ar")
    steps = (["tar", "xzf", "project.tar.gz"],
             ["sh", "-c", "cd project && ./configure --prefix=/usr"],
             ["make", "-C", "project", "-j2", "-Otarget"],
             ["make", "-C", "project", "check"],
             ["make", "-C", "project", "install", "DESTDIR=../stage"])
    ignore = r"project\.tar\.gz"  # the input; gzip writes the time into it

    def prepare(self, directory):
        source = os.path.join(directory, "project")
        configure = r"""#!/bin/sh
set -e
prefix=/usr/local
for word; do case $word in --prefix=*) prefix=${word#*=} ;; esac; done
try() { printf '%s\n' "$2" > conftest.c
  printf 'checking for %s... ' "$1"
  if ${CC-cc} -o conftest conftest.c 2>/dev/null && ./conftest; then echo yes; echo "#define HAVE_$1 1" >> config.h; else echo no; fi
  rm -f conftest conftest.c; }
: > config.h
try STDINT_H '#include <stdint.h>
int main(void) { return sizeof(uint64_t) == 8 ? 0 : 1; }'
try MKSTEMP '#include <stdio.h>
int main(void) { FILE *f = tmpfile(); return f == 0; }'
try NO_SUCH_THING '#include <no/such.h>
int main(void) { return 0; }'
sed "s|@prefix@|$prefix|" Makefile.in > Makefile
echo "configure: made Makefile"
"""
        names = [f"unit{i}" for i in range(24)]
        objects = " ".join(f"{name}.o" for name in names)
        makefile = f"""prefix = @prefix@
CFLAGS = -O1 -g0
all: tool
lib.a: {objects}
\t$(AR) rcsD $@ {objects}
tool: main.o lib.a
\t$(CC) -o $@ main.o lib.a
%.o: %.c config.h
\t$(CC) $(CFLAGS) -c -o $@ $<
check: tool
\t./tool 1 2 3 | grep -x 'sum 282'
install: tool
\tinstall -d $(DESTDIR)$(prefix)/bin
\tinstall -m 755 tool $(DESTDIR)$(prefix)/bin/tool
\tln -sf tool $(DESTDIR)$(prefix)/bin/tool-link
"""
        write(f"{source}/configure", configure, 0o755)
        write(f"{source}/Makefile.in", makefile)
        for i, name in enumerate(names):
            write(f"{source}/{name}.c", f'#include "config.h"\n#include <stdio.h>\n'
                                        f"int {name}(int x) {{ return x ? {i} + x - x : 0; }}\n")
        calls = " + ".join(f"{name}(argc)" for name in names)
        decls = "\n".join(f"int {name}(int);" for name in names)
        write(f"{source}/main.c", f'#include <stdio.h>\n#include <stdlib.h>\n{decls}\n'
                                  "int main(int argc, char **argv) {\n  int sum = 0;\n"
                                  "  for (int i = 1; i < argc; i++) sum += atoi(argv[i]);\n"
                                  f'  printf("sum %d\\n", sum + {calls});\n  return 0;\n}}\n')
        subprocess.run(["tar", "czf", f"{directory}/project.tar.gz", "-C", directory, "project"], check=True)
        shutil.rmtree(source)

    def normalize(self, text):
        return "\n".join(sorted(text.split("\n")))  # two jobs at a time end in either order


class PythonVenv(Job):
    """a virtual environment and unittest in it"""
    tools = ("python3",)
    python = "/usr/bin/python3"
    steps = ([python, "-m", "venv", "--without-pip", "env"],
             ["env/bin/python", "-m", "unittest", "-q", "test_sample"],
             ["env/bin/python", "-c", "import sys, sample; print(sys.prefix != sys.base_prefix, sample.twice(21))"])
    ignore = r".*/(__pycache__|.*\.pyc).*|.*\.pyc"

    def prepare(self, directory):
        if not os.path.exists(self.python):
            raise Skip(f"no {self.python} here")
        write(f"{directory}/sample.py", "def twice(x):\n    return 2 * x\n")
        write(f"{directory}/test_sample.py", """import multiprocessing, os, sqlite3, subprocess, sys, tempfile, unittest
from sample import twice

class SampleTest(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(twice(4), 8)
    def test_pool(self):
        with multiprocessing.Pool(2) as pool:
            self.assertEqual(pool.map(twice, range(4)), [0, 2, 4, 6])
    def test_tempfile(self):
        with tempfile.TemporaryDirectory() as d, open(os.path.join(d, "x"), "w") as f:
            f.write("x")
    def test_child(self):
        self.assertEqual(subprocess.run([sys.executable, "-c", "raise SystemExit(3)"]).returncode, 3)
    def test_database(self):
        base = sqlite3.connect("data.db")
        base.execute("create table if not exists t (x)")
        base.commit()
        base.close()
""")

    def normalize(self, text):
        return re.sub(r"in [0-9.]+s", "in TIME", text)


class NpmScript(Job):
    """npm run with a script that starts node"""
    tools = ("npm", "node")
    steps = (["npm", "run", "--silent", "build"], ["npm", "test", "--silent"])

    def prepare(self, directory):
        write(f"{directory}/package.json", """{ "name": "sample", "version": "1.0.0", "private": true,
  "scripts": { "build": "node build.js", "test": "node --test test.js > report.txt && echo tested" } }
""")
        write(f"{directory}/build.js", """const fs = require('fs'), cp = require('child_process');
fs.mkdirSync('dist', { recursive: true });
fs.writeFileSync('dist/out.js', fs.readFileSync('build.js', 'utf8').toUpperCase());
console.log('built', cp.execFileSync(process.execPath, ['-p', '6*7']).toString().trim());
""")
        write(f"{directory}/test.js", """const test = require('node:test'), assert = require('assert'), net = require('net');
test('a server on loopback', (t, done) => {
  const server = net.createServer((s) => s.end('hello')).listen(0, '127.0.0.1', () => {
    net.connect(server.address().port, '127.0.0.1').on('data', (d) => { assert.equal(String(d), 'hello'); server.close(done); });
  });
});
""")

    ignore = r"report\.txt"


class CargoBuild(Job):
    """cargo build, test and run of a small offline crate"""
    tools = ("cargo", "rustc", "cc")
    steps = (["cargo", "build", "--offline", "--quiet"], ["cargo", "run", "--offline", "--quiet", "--", "a", "b"],
             ["cargo", "test", "--offline", "--quiet"])
    ignore = r"target/.*"

    def prepare(self, directory):
        write(f"{directory}/Cargo.toml", '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n')
        write(f"{directory}/src/main.rs", """fn main() { println!("{}", std::env::args().skip(1).collect::<Vec<_>>().join("+")); }
#[test]
fn adds() { assert_eq!(1 + 1, 2); }
""")

    def normalize(self, text):
        return re.sub(r"finished in [0-9.]+s", "finished in TIME", text)


class GoBuild(Job):
    """go vet, build and test of a small offline module"""
    tools = ("go",)
    # A cache in the workspace: that of a private home is empty at each start, and the standard library is compiled anew.
    steps = tuple(["sh", "-c", f"GOCACHE=$PWD/cache {step}"] for step in
                  ("go vet ./...", "go build -o sample .", "./sample", "go test ./..."))
    ignore = r"cache(/.*)?"

    def prepare(self, directory):
        write(f"{directory}/go.mod", "module example.invalid/sample\n\ngo 1.20\n")
        write(f"{directory}/main.go", 'package main\n\nimport "fmt"\n\nfunc twice(x int) int { return 2 * x }\n\n'
                                      "func main() { fmt.Println(twice(21)) }\n")
        write(f"{directory}/main_test.go", 'package main\n\nimport "testing"\n\nfunc TestTwice(t *testing.T) {\n'
                                           '\tif twice(2) != 4 {\n\t\tt.Fail()\n\t}\n}\n')

    def normalize(self, text):
        return re.sub(r"\t(\([a-z]+\)|[0-9.]+s)$", "\tTIME", text, flags=re.M)


class GitReading(Job):
    """git status, log and diff in a repository with changes"""
    tools = ("git",)
    ignore = r"\.git/index"  # holds inode numbers and times
    steps = (["git", "status"], ["git", "status", "--porcelain", "--ignored"], ["git", "log", "--stat", "-3"], ["git", "diff"],
             ["git", "branch", "-a"], ["git", "show", "HEAD:a.txt"], ["git", "stash", "list"])

    def prepare(self, directory):
        def git(*words):
            subprocess.run(["git", "-C", directory, "-c", "user.name=t", "-c", "user.email=t@example.invalid", *words], check=True,
                           stdout=subprocess.DEVNULL, env=dict(os.environ, GIT_AUTHOR_DATE="2001-01-01T00:00:00Z",
                                    GIT_COMMITTER_DATE="2001-01-01T00:00:00Z"))
        git("init", "-q", "-b", "main")
        write(f"{directory}/a.txt", "one\ntwo\n")
        write(f"{directory}/.gitignore", "*.log\n")
        git("add", ".")
        git("commit", "-q", "-m", "first")
        write(f"{directory}/a.txt", "one\nthree\n")
        write(f"{directory}/new.txt", "new\n")
        write(f"{directory}/x.log", "log\n")
        git("add", "new.txt")


JOBS = {"c-project": CProject, "python-venv": PythonVenv, "npm-script": NpmScript, "cargo": CargoBuild, "go": GoBuild,
        "git-reading": GitReading}


def tree(directory, ignore):
    """Every file below: kind, mode and content."""
    found = {}
    for base, directories, files in os.walk(directory):
        for name in directories + files:
            path = os.path.join(base, name)
            relative = os.path.relpath(path, directory)
            if re.fullmatch(ignore, relative):
                continue
            node = os.lstat(path)
            if stat.S_ISLNK(node.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(node.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            else:
                content = ""
            found[relative] = (oct(node.st_mode), content)
    return found


def run_steps(job, prefix, directory, env):
    seen = []
    for step in job.steps:
        done = subprocess.run(prefix + step, cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300)
        seen.append((" ".join(step), done.returncode, job.normalize(done.stdout.decode(errors="replace")),
                     job.normalize(done.stderr.decode(errors="replace"))))
    if prefix:
        wait_for_placeholders(directory)
    return seen


def wait_for_placeholders(directory):
    """What holds a missing name is removed just after the launcher ends, by a process that outlives it."""
    names = [os.path.join(directory, name) for name in (".git", ".agent-exec.toml")]
    for _ in range(200):
        if not any(os.path.lexists(name) and os.lstat(name).st_mtime == 1000000000 for name in names):
            return
        time.sleep(0.01)


def compare(name, who):
    job = JOBS[name]()
    need(*job.tools)
    with tempfile.TemporaryDirectory(prefix="agent-exec-job.") as base:
        home, work, kept = f"{base}/home", f"{base}/work", f"{base}/kept"
        os.mkdir(home)
        env = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "TERM": "dumb", "SHELL": "/bin/sh"}
        for variable in ("CARGO_HOME", "RUSTUP_HOME", "GOROOT"):
            if variable in os.environ:
                env[variable] = os.environ[variable]
        if os.geteuid() == 0 and "RUSTUP_HOME" not in env and os.path.isdir(f"{os.environ.get('HOME', '')}/.rustup"):
            env["HOME"] = os.environ["HOME"]  # where the toolchain is

        def fresh():
            shutil.rmtree(work, ignore_errors=True)
            os.mkdir(work)
            job.prepare(work)

        fresh()
        bare = run_steps(job, [], work, env)
        bare_tree = tree(work, job.ignore)
        fresh()
        confined = run_steps(job, LAUNCHER, work, env)
        confined_tree = tree(work, job.ignore)
        problems = []
        for one, other in zip(bare, confined):
            if one != other:
                problems.append(f"{one[0]}\n  bare:     {one[1:]}\n  confined: {other[1:]}")
            if one[1] != 0:
                problems.append(f"{one[0]}: fails bare too, so the job shows nothing: {one[1:]}")
        for path in sorted(set(bare_tree) | set(confined_tree)):
            if bare_tree.get(path) != confined_tree.get(path):
                problems.append(f"{path}: bare {bare_tree.get(path)}, confined {confined_tree.get(path)}")
        if not bare_tree:
            problems.append("no files to compare")
        for problem in problems:
            print(f"BAD {who} {name}: {problem}")
        if not problems:
            print(f"ok {who} {name}: {len(job.steps)} steps, {len(bare_tree)} files")
        return not problems


def as_ordinary_user(name):
    """Runs this script again under a uid of its own, with a copy of the binary that it can reach."""
    with tempfile.TemporaryDirectory(prefix="agent-exec-user.") as base:
        os.chmod(base, 0o755)
        os.mkdir(f"{base}/tmp")
        os.chown(f"{base}/tmp", ORDINARY_UID, ORDINARY_UID)
        shutil.copy(AGENT_EXEC, f"{base}/agent-exec")
        shutil.copy(__file__, f"{base}/run_job.py")
        env = {"PATH": "/usr/local/bin:/usr/local/go/bin:/usr/bin:/bin", "HOME": f"{base}/tmp", "TMPDIR": f"{base}/tmp", "LANG": "C.UTF-8",
               "AGENT_EXEC": f"{base}/agent-exec", "AGENT_EXEC_FLAGS": os.environ.get("AGENT_EXEC_FLAGS", "")}

        def drop():
            os.setgroups([])
            os.setgid(ORDINARY_UID)
            os.setuid(ORDINARY_UID)
        return subprocess.run(["/usr/bin/python3", f"{base}/run_job.py", name], env=env, preexec_fn=drop).returncode


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(JOBS))
        return 0
    name = sys.argv[1]
    status = 0
    try:
        who = "root" if os.geteuid() == 0 else "user"
        status = 0 if compare(name, who) else 1
    except Skip as reason:
        print(f"SKIP {name}: {reason}")
        status = 77
    if os.geteuid() == 0:
        other = as_ordinary_user(name)
        status = max((status, other), key=lambda s: {0: 1, 77: 0}.get(s, 2))
    return status


if __name__ == "__main__":
    sys.exit(main())
