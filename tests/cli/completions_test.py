#!/usr/bin/env python3
"""Asks the real shells what they complete: completions_test.py SHELL SCRIPT.

SHELL is bash, zsh or fish; SCRIPT is the completion file. One line per check; 77 when the shell is not there.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

# What is on the line, what has to be offered, what must not be. A value after '=' is compared by its last part, since
# shells differ in whether they offer "--mode=read-only" or "read-only".
CASES = [
    ("agent-exec --mo", ["--mode"], ["--read"]),
    ("agent-exec --ver", ["--verbose", "--version"], ["--mode"]),
    ("agent-exec --quiet --mo", ["--mode"], []),
    ("agent-exec --print", ["--print-schema"], []),
    ("agent-exec --mode ", ["read-only", "workspace-write", "danger-full-access"], ["--mode", "aetool"]),
    ("agent-exec --mode w", ["workspace-write"], ["read-only"]),
    ("agent-exec --mode=w", ["workspace-write"], ["read-only"]),
    ("agent-exec --print=s", ["script"], ["argv"]),
    ("agent-exec --profile ", ["install", "agent"], []),
    ("agent-exec --weaken r", ["run-unsandboxed"], []),
    ("agent-exec --backend ", ["auto", "bwrap"], []),
    ("agent-exec --limit tm", ["tmp-size="], []),
    ("agent-exec --env AE_CHECK", ["AE_CHECK_VARIABLE"], []),
    ("agent-exec --policy p", ["policy.toml", "place/"], []),
    ("agent-exec --deny-read p", ["policy.toml", "place/"], []),
    ("agent-exec --chdir p", ["place/"], ["policy.toml"]),
    ("agent-exec aeto", ["aetool"], []),
    ("agent-exec -- aeto", ["aetool"], []),
    ("agent-exec --mode read-only aeto", ["aetool"], []),
    ("agent-exec --mode=read-only -q -- aeto", ["aetool"], []),
    ("agent-exec --limit tmp-size=1MiB aeto", ["aetool"], []),
    # Behind the command nothing is an option of the launcher.
    ("agent-exec -- aetool --", ["--own-flag"], ["--mode"]),
    ("agent-exec aetool --", ["--own-flag"], ["--mode"]),
    ("agent-exec --network none aetool --own-flag --", ["--own-flag"], ["--mode"]),
    ("agent-exec -- aetool p", ["policy.toml"], []),
]

BASH_DRIVER = r"""
complete -W '--own-flag policy.toml' aetool
# What the package bash-completion brings, as far as a word list needs it.
_comp_command_offset() {
    if ((COMP_CWORD == $1)); then
        COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"))
    else
        COMPREPLY=($(compgen -W '--own-flag policy.toml' -- "${COMP_WORDS[COMP_CWORD]}"))
    fi
}
[[ -z $WITHOUT_PACKAGE ]] || unset -f _comp_command_offset
source "$1" || exit 1
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_agent_exec
for candidate in "${COMPREPLY[@]}"; do
    [[ ! -d $candidate ]] || candidate+=/
    printf '%s\n' "$candidate"
done
"""

# An interactive zsh on a terminal of its own completes; compadd tells what it was given.
ZSH_DRIVER = r"""
zmodload zsh/zpty
export line=$2 script=$1 out=$3
zpty child zsh -f -i
zpty -w child 'PROMPT= RPROMPT=; fpath=(${script:h} $fpath); autoload -Uz compinit; compinit -u -D; source $script; compdef _agent_exec agent-exec'
zpty -w child '_aetool() { _arguments "*--own-flag[x]" "*:file:_files" }; compdef _aetool aetool'
zpty -w child 'compadd() {
  if [[ ${argv[(I)-O]} -gt 0 || ${argv[(I)-A]} -gt 0 || ${argv[(I)-D]} -gt 0 || $argv == *\ -[a-zA-Z]#[OAD]\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits; local suffix=; local -i at=${argv[(i)-S]}
  (( at < $# )) && [[ $argv[at+1] == [/=] ]] && suffix=$argv[at+1]
  builtin compadd -A hits "$@"; for hit in $hits; do [[ -d $hit ]] && hit+=/; print -r -- "$hit$suffix" >>$out; done
  builtin compadd "$@"
}'
zpty -w child 'finish() { BUFFER= ; print -r -- DONE >>$out; zle -I }; zle -N finish; bindkey "^X" finish; bindkey "^I" complete-word; setopt no_list_beep'
zpty -w child 'print READY >>$out'
repeat 100; do [[ -s $out ]] && break; sleep 0.05; done
zpty -n -w child "$line"$'\t\x18'
repeat 100; do grep -q DONE $out && break; sleep 0.05; done
zpty -d child
"""

FISH_DRIVER = r"""
source $argv[1]
complete -c aetool -l own-flag
complete -C $argv[2]
"""


def bash_words(line):
    """Cut as readline cuts it: at blanks, and '=' and ':' stand alone."""
    words = []
    for word in line.split(" "):
        words += [part for part in re.split(r"([=:]+)", word) if part] or [""]
    return words


def run(command, env):
    # A shell that waits for a key would wait for ever.
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def complete(shell, script, line, env):
    if shell == "bash":
        done = run(["bash", "--norc", "-c", BASH_DRIVER, "bash", script, *bash_words(line)], env)
        return done.stdout.splitlines(), done.stderr
    if shell == "fish":
        done = run(["fish", "--no-config", "-c", FISH_DRIVER, script, line], env)
        return [found.split("\t")[0] for found in done.stdout.splitlines()], done.stderr
    with tempfile.NamedTemporaryFile("r") as out:
        done = run(["zsh", "-f", "-c", ZSH_DRIVER, "zsh", script, line, out.name], env)
        return [found for found in out.read().splitlines() if found not in ("READY", "DONE")], done.stderr


def last_part(candidate):
    return candidate.split("=", 1)[1] if candidate.startswith("--") and "=" in candidate[:-1] else candidate


def check(shell, script, case, env):
    line, wanted, unwanted = case
    found, errors = complete(shell, script, line, env)
    offered = {last_part(candidate) for candidate in found} | set(found)
    problems = [f"not offered: {word}" for word in wanted
                if word not in offered and (not word.endswith("=") or word[:-1] not in offered)]
    problems += [f"offered: {word}" for word in unwanted if word in offered]
    if errors.strip():
        problems.append(f"errors: {errors.strip()}")
    print(f"{'not ok' if problems else 'ok'} {shell}: {line!r}")
    for problem in problems:
        print(f"    {problem}; all offers: {' '.join(sorted(offered)[:40])}")
    return not problems


def main():
    shell, script = sys.argv[1], os.path.abspath(sys.argv[2])
    if shutil.which(shell) is None:
        print(f"SKIP: {shell} is not installed")
        return 77
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(f"{top}/bin")
        os.makedirs(f"{top}/work/place")
        for tool in ("agent-exec", "aetool"):
            with open(f"{top}/bin/{tool}", "w") as file:
                file.write("#!/bin/sh\n")
            os.chmod(f"{top}/bin/{tool}", 0o755)
        open(f"{top}/work/policy.toml", "w").close()
        os.chdir(f"{top}/work")
        env = {"PATH": f"{top}/bin:/usr/bin:/bin", "HOME": top, "AE_CHECK_VARIABLE": "1", "TERM": "dumb",
               "LC_ALL": "C.UTF-8"}
        results = [check(shell, script, case, env) for case in CASES]
        if shell == "bash":
            # Without the package the words behind the command are files.
            env["WITHOUT_PACKAGE"] = "1"
            bare = [case for case in CASES if "--own-flag" not in case[1]]
            results += [check(shell, script, case, env) for case in bare]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
