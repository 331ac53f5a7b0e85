#!/usr/bin/env python3
"""Checks the C++ sources with clang-format or clang-tidy.

Usage: lint.py SOURCE_ROOT BUILD_ROOT format|tidy [FILE...]

Without FILEs: all of src and tests for format, all of src for tidy. The tools are those of
subprojects/requirements-lint.txt, which `sh subprojects/bootstrap test` installs: other versions
format in another way. Exit status 77: they are not there.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SKIP = 77


def find_tool(source, build, name):
    requirements = (source / 'subprojects' / 'requirements-lint.txt').read_text(encoding='utf-8')
    version = re.search(rf'^{name}==(\d+)\.', requirements, re.MULTILINE).group(1)
    tool = build / '.tools' / 'venv' / 'bin' / name
    candidates = [str(tool), name]
    for candidate in candidates:
        try:
            run = subprocess.run(
                [candidate, '--version'], capture_output=True, text=True, check=True
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        if re.search(rf'version {version}\.', run.stdout):
            return candidate
    print(f'SKIP: no {name} {version}')
    sys.exit(SKIP)


def sources(root, *directories):
    found = []
    for directory in directories:
        for suffix in ('.h', '.cc'):
            found += (root / directory).rglob('*' + suffix)
    return sorted(found)


def check_format(source, build, files):
    tool = find_tool(source, build, 'clang-format')
    files = files or sources(source, 'src', 'tests')
    run = subprocess.run([tool, '--dry-run', '--Werror', *files], check=False)
    if run.returncode != 0:
        print(f'hint: {tool} -i FILE')
    return run.returncode


def header_paths(compiler):
    """The include directories and macros that the compiler has by itself, as arguments for
    clang-tidy, which would look for those of its own installation."""
    run = subprocess.run(
        [*compiler, '-E', '-###', '-x', 'c++', '/dev/null'],
        capture_output=True,
        text=True,
        check=False,
    )
    line = next((line for line in run.stderr.splitlines() if '"-cc1"' in line), '')
    words = shlex.split(line)
    found = ['-nostdinc', '-nostdinc++']
    for flag, value in zip(words, words[1:]):
        if flag in ('-isystem', '-internal-isystem', '-internal-externc-isystem'):
            found += ['-isystem', os.path.abspath(value)]
        elif flag == '-D' and not value.startswith('NDEBUG'):
            found += ['-D' + value]
    return found


def tidy_command(entry, defaults):
    """One entry of the compilation database as clang-tidy understands it: the compiler is one word,
    and no output is written."""
    words = shlex.split(entry['command'])
    start = next((i for i, word in enumerate(words) if word.startswith('-')), len(words))
    compiler = words[:start]
    arguments = []
    skip_next = False
    for word in words[start:]:
        if skip_next:
            skip_next = False
        elif word in ('-o', '-MF', '-MQ', '-MT'):
            skip_next = True
        elif word not in ('-MD', '-MMD') and word != entry['file']:
            arguments.append(word)
    if compiler and os.path.basename(compiler[-1]) == 'c++' and 'zig' in ' '.join(compiler):
        key = tuple(compiler) + tuple(arguments[:2])
        if key not in defaults:
            defaults[key] = header_paths(key)
        arguments = defaults[key] + arguments
    return {**entry, 'command': shlex.join(['clang++', *arguments, '-c', entry['file']])}


def check_tidy(source, build, files):
    tool = find_tool(source, build, 'clang-tidy')
    entries = json.loads((build / 'compile_commands.json').read_text(encoding='utf-8'))
    wanted = {str(path) for path in files} if files else None
    defaults = {}
    commands = []
    for entry in entries:
        path = os.path.realpath(os.path.join(entry['directory'], entry['file']))
        if path in wanted if wanted else path.startswith(str(source / 'src') + os.sep):
            commands.append({**tidy_command(entry, defaults), 'file': path})
    with tempfile.TemporaryDirectory() as scratch:
        database = pathlib.Path(scratch) / 'compile_commands.json'
        database.write_text(json.dumps(commands), encoding='utf-8')

        def run(command):
            words = [tool, '--quiet', f'--config-file={source}/.clang-tidy', '-p', scratch]
            words += [command['file']]
            return subprocess.run(words, capture_output=True, text=True, check=False)

        failed = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for command, result in zip(commands, pool.map(run, commands)):
                if result.returncode != 0:
                    failed += 1
                    print(result.stdout or result.stderr, flush=True)
        print(f'{len(commands)} files, {failed} with findings')
        return 1 if failed else 0


def main():
    source, build = (pathlib.Path(os.path.realpath(path)) for path in sys.argv[1:3])
    files = [os.path.realpath(path) for path in sys.argv[4:]]
    check = {'format': check_format, 'tidy': check_tidy}[sys.argv[3]]
    return check(source, build, files)


if __name__ == '__main__':
    sys.exit(main())
