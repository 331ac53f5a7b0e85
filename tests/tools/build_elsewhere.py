#!/usr/bin/env python3
"""Builds agent-exec in another way than the build directory does, and looks at the result.

Usage: build_elsewhere.py SOURCE_ROOT BUILD_ROOT BUILD

BUILD is gcc-sanitized, clang, or one of the cross files in subprojects/machines. Each is built in
BUILD_ROOT/elsewhere/BUILD. Exit status 77: this machine cannot, and the reason is printed.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import check_binary

SKIP = 77


def skip(reason):
    print(f'SKIP: {reason}')
    sys.exit(SKIP)


class Build:
    def __init__(self, source, build_root, name):
        self.source = source
        self.directory = build_root / 'elsewhere' / name
        self.tools = build_root / '.tools'
        venv_meson = self.tools / 'venv' / 'bin' / 'meson'
        self.meson = str(venv_meson) if venv_meson.is_file() else shutil.which('meson')
        if not self.meson:
            skip('no meson')

    def configure(self, *arguments, **environment):
        # A configuration that was interrupted has no such file, and Meson starts it anew.
        if (self.directory / 'meson-private' / 'build.dat').is_file():
            return
        shutil.rmtree(self.directory, ignore_errors=True)
        self.run(self.meson, 'setup', self.directory, *arguments, **environment)

    def compile(self, *targets):
        self.run(self.meson, 'compile', '-C', self.directory, *targets)

    def run(self, *command, **environment):
        words = [str(word) for word in command]
        print('+', ' '.join(words), flush=True)
        run = subprocess.run(words, cwd=self.source, env={**os.environ, **environment}, check=False)
        if run.returncode != 0:
            sys.exit(f'failed with status {run.returncode}')


def sanitized(build):
    if not shutil.which('g++'):
        skip('no g++')
    # Warnings stay warnings: sanitized code makes g++ see what is not there.
    build.configure(
        '-Db_sanitize=address,undefined', '-Doptimization=1', '-Dcpp_args=-g1', CXX='g++'
    )
    build.compile()
    build.run(build.directory / 'tests' / 'unit' / 'unit_tests')


def clang(build):
    if not shutil.which('clang++'):
        skip('no clang++')
    # Unoptimized, for it is about what clang and libstdc++ accept and warn of.
    build.configure('-Doptimization=0', '-Dwerror=true', '-Dtests=disabled', CXX='clang++')
    build.compile('agent-exec')


def cross(build, machine):
    constants = build.tools / 'zig.ini'
    if not constants.is_file():
        skip('the build directory was not set up by subprojects/bootstrap')
    cpu, _, system = machine.partition('-')
    # What runs nowhere here need not be optimized to be linked. zig then adds UBSan by itself.
    quick = ['-Doptimization=0', '-Dcpp_args=-fno-sanitize=undefined'] if system == 'macos' else []
    build.configure(
        '--cross-file', constants, '--cross-file', f'subprojects/machines/{machine}.ini',
        '-Dwerror=true', *quick,
    )
    build.compile('agent-exec')
    binary = build.directory / 'agent-exec'
    problems = check_binary.problems_of(binary, 'macho' if system == 'macos' else 'elf', cpu)
    if problems:
        sys.exit(f'{binary}: {", ".join(problems)}')
    print(f'{binary}: {binary.stat().st_size} bytes')


def main():
    source, build_root, name = sys.argv[1:]
    build = Build(pathlib.Path(source), pathlib.Path(build_root), name)
    if name == 'gcc-sanitized':
        sanitized(build)
    elif name == 'clang':
        clang(build)
    else:
        cross(build, name)


if __name__ == '__main__':
    main()
