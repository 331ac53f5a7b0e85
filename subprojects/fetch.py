#!/usr/bin/env python3
"""Puts the sources that the wraps name into subprojects/, checked against their hashes.

Upstream's archive goes into packagecache/, where Meson looks for it and checks it again. Where
upstream does not answer, the distribution's package of the same version is unpacked instead, as
debian.ini says. Nothing is fetched for a subproject that is there already.
"""

import configparser
import hashlib
import os
import pathlib
import platform
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
WRAPS = ['abseil-cpp', 'tomlplusplus', 'doctest']

# For a host that drops packets. One that refuses answers at once.
CONNECT_TIMEOUT_S = 5
READ_TIMEOUT_S = 60

# The releases whose packages have the versions that the wraps name.
SUITES = {'debian': ['trixie'], 'ubuntu': ['questing', 'plucky']}


class Failure(Exception):
    """Its text says what is missing and how to get it."""


def say(text):
    print(f'bootstrap: {text}', flush=True)


def read_ini(path):
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(path)
    return parser


def sha256_of(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def sha256_of_tree(root):
    lines = [
        f'{sha256_of(path)}  {path.relative_to(root).as_posix()}\n'
        for path in root.rglob('*')
        if path.is_file()
    ]
    return hashlib.sha256(''.join(sorted(lines)).encode()).hexdigest()


def check(what, expected, actual):
    if expected != actual:
        raise Failure(f"{what} has sha256 {actual}, expected {expected}: not used")


def reach(url):
    """Raises OSError unless the host of url, or the proxy before it, takes a connection in time."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ('http', 'https'):
        return
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(parts.hostname):
        parts = urllib.parse.urlsplit(proxy if '://' in proxy else 'http://' + proxy)
    address = (parts.hostname, parts.port or {'http': 80, 'https': 443}[parts.scheme])
    answers = queue.Queue()

    def connect():
        try:
            socket.create_connection(address, timeout=CONNECT_TIMEOUT_S).close()
            answers.put(None)
        except OSError as error:
            answers.put(error)

    # In a thread, because looking up the name has a time-out of its own that is far longer.
    threading.Thread(target=connect, daemon=True).start()
    try:
        error = answers.get(timeout=CONNECT_TIMEOUT_S)
    except queue.Empty:
        error = OSError(f'no answer from {address[0]} within {CONNECT_TIMEOUT_S} s')
    if error:
        raise error


def download(url, target, expected):
    """Writes url to target, or nothing. Raises OSError where the host is out of reach."""
    reach(url)
    with urllib.request.urlopen(url, timeout=READ_TIMEOUT_S) as answer:
        data = answer.read()
    check(url, expected, hashlib.sha256(data).hexdigest())
    target.parent.mkdir(exist_ok=True)
    partial = target.with_name(target.name + '.partial')
    partial.write_bytes(data)
    partial.rename(target)


def os_release():
    values = {}
    try:
        text = pathlib.Path('/etc/os-release').read_text(encoding='utf-8')
    except OSError:
        return values
    for line in text.splitlines():
        key, separator, value = line.partition('=')
        if separator:
            values[key] = value.strip('"')
    return values


def distribution():
    release = os_release()
    names = [release.get('ID', '')] + release.get('ID_LIKE', '').split()
    for name in names:
        if name in SUITES:
            return name
    return ''


def apt_sources():
    """The machine's own apt sources as (uri, suite, keyring) triples, in the order of its files."""
    paths = [pathlib.Path('/etc/apt/sources.list')]
    paths += sorted(pathlib.Path('/etc/apt/sources.list.d').glob('*.list'))
    paths += sorted(pathlib.Path('/etc/apt/sources.list.d').glob('*.sources'))
    found = []
    for path in paths:
        try:
            text = path.read_text(encoding='utf-8')
        except OSError:
            continue
        if path.suffix == '.sources':
            found += deb822_sources(text)
        else:
            found += one_line_sources(text)
    return found


def deb822_sources(text):
    lines = [line for line in text.splitlines() if not line.startswith('#')]
    for stanza in '\n'.join(lines).split('\n\n'):
        fields = {}
        key = ''
        for line in stanza.splitlines():
            if line[:1].isspace():
                fields[key] = fields.get(key, '') + '\n' + line
            elif ':' in line:
                key, _, value = line.partition(':')
                key = key.strip().lower()
                fields[key] = value.strip()
        if fields.get('enabled', 'yes').lower() == 'no':
            continue
        for uri in fields.get('uris', '').split():
            for suite in fields.get('suites', '').split():
                yield uri, suite, fields.get('signed-by', '')


def one_line_sources(text):
    for line in text.splitlines():
        words = line.split('#')[0].split()
        if not words or words[0] != 'deb':
            continue
        words = words[1:]
        key = ''
        if words and words[0].startswith('['):
            while words:
                word = words.pop(0)
                option = word.strip('[]')
                if option.startswith('signed-by='):
                    key = option[len('signed-by='):]
                if word.endswith(']'):
                    break
        if len(words) >= 3:
            yield words[0], words[1], key


class Apt:
    """apt with one sources list and all its state in a directory of its own, so that an ordinary
    user can run it and the machine's configuration stays as it is."""

    def __init__(self, state):
        self.state = state
        self.updated = False

    def command(self, tool, *arguments):
        options = {
            'Dir::Etc::SourceList': self.state / 'list.sources',
            'Dir::Etc::SourceParts': '/nonexistent',
            'Dir::State::Lists': self.state / 'lists',
            'Dir::Cache': self.state / 'cache',
            # Only the indexes of packages and sources are read.
            'Acquire::Languages': 'none',
            'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
            'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled': 'false',
            'Acquire::Retries': '2',
            # The directory is private to the caller, so root cannot hand the download to _apt.
            'APT::Sandbox::User': 'root',
        }
        words = [tool, '-q']
        for name, value in options.items():
            words += ['-o', f'{name}={value}']
        run = subprocess.run(
            words + list(arguments),
            cwd=self.state / 'files',
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            env={**os.environ, 'LC_ALL': 'C', 'DEBIAN_FRONTEND': 'noninteractive'},
        )
        return run.returncode, run.stdout

    def update(self):
        if self.updated:
            return
        if not shutil.which('apt-get'):
            raise Failure('there is no apt-get')
        name = distribution()
        if not name:
            raise Failure('this is neither Debian nor Ubuntu')
        for part in ['lists/partial', 'cache/archives/partial', 'files']:
            (self.state / part).mkdir(parents=True, exist_ok=True)
        codename = os_release().get('VERSION_CODENAME', '')
        # The line of the release itself: its mirror has the other releases, a security one's has
        # not.
        sources = [source for source in apt_sources() if not source[0].startswith('cdrom:')]
        mirrors = [(uri, key) for uri, suite, key in sources if suite in (codename, 'stable')]
        mirrors = mirrors or [(uri, key) for uri, suite, key in sources if '-' not in suite]
        log = 'no mirror of the distribution in /etc/apt'
        for uri, key in dict.fromkeys(mirrors):
            for suite in SUITES[name]:
                stanza = ['Types: deb deb-src', f'URIs: {uri}', f'Suites: {suite}']
                stanza += ['Components: main' + (' universe' if name == 'ubuntu' else '')]
                if key:
                    stanza += [f'Signed-By: {key}']
                path = self.state / 'list.sources'
                path.write_text('\n'.join(stanza) + '\n', encoding='utf-8')
                status, log = self.command('apt-get', 'update')
                if status == 0 and '\nErr:' not in '\n' + log:
                    self.updated = True
                    return
        raise Failure(f'apt-get update failed:\n{log}')

    def source_archive(self, package, archive):
        self.update()
        status, log = self.command('apt-get', 'source', '--download-only', '--only-source', package)
        path = self.state / 'files' / archive
        if not path.is_file():
            raise Failure(
                f'apt-get source {package} brought no {archive} (status {status}):\n{log}'
            )
        return path

    def unpacked(self, package):
        self.update()
        status, log = self.command('apt-get', 'download', package)
        packages = list((self.state / 'files').glob(f'{package}_*.deb'))
        if status != 0 or not packages:
            raise Failure(f'apt-get download {package} failed:\n{log}')
        root = self.state / 'unpacked' / package
        root.mkdir(parents=True, exist_ok=True)
        subprocess.run(['dpkg-deb', '-x', packages[0], root], check=True)
        return root


def unpack_debian(apt, name, wrap, entry):
    """Makes the subproject's directory from the distribution's package, in one rename."""
    target = HERE / wrap['directory']
    with tempfile.TemporaryDirectory(prefix='.', suffix='.tmp', dir=HERE) as scratch_name:
        scratch = pathlib.Path(scratch_name)
        if 'source' in entry:
            archive = apt.source_archive(entry['source'], entry['archive'])
            check(entry['archive'], entry['sha256'], sha256_of(archive))
            subprocess.run(['tar', '-xzf', archive, '-C', scratch], check=True)
            (made,) = scratch.iterdir()
        else:
            tree = apt.unpacked(entry['package']) / entry['tree']
            check(f"{entry['package']}'s {entry['tree']}", entry['sha256'], sha256_of_tree(tree))
            made = scratch / 'made'
            shutil.copytree(tree, made / entry['into'])
        shutil.copytree(HERE / 'packagefiles' / wrap['patch_directory'], made, dirs_exist_ok=True)
        made.rename(target)


def main():
    state_parent = pathlib.Path(sys.argv[1]).resolve()
    debian = read_ini(HERE / 'debian.ini')
    out_of_reach = None
    with tempfile.TemporaryDirectory(prefix='apt.', dir=state_parent) as state:
        apt = Apt(pathlib.Path(state))
        for name in WRAPS:
            wrap = read_ini(HERE / f'{name}.wrap')['wrap-file']
            directory = HERE / wrap['directory']
            overlay = HERE / 'packagefiles' / wrap['patch_directory']
            if directory.is_dir():
                # Meson lays packagefiles over a subproject only when it unpacks it.
                shutil.copytree(overlay, directory, dirs_exist_ok=True)
                continue
            cached = HERE / 'packagecache' / wrap['source_filename']
            if cached.is_file() and sha256_of(cached) == wrap['source_hash']:
                continue
            say(f"fetching {wrap['directory']}")
            error = out_of_reach
            if not error:
                try:
                    download(wrap['source_url'], cached, wrap['source_hash'])
                    continue
                except OSError as os_error:
                    # All three have one host: the next one need not wait for it again.
                    error = out_of_reach = os_error
                except Failure as failure:
                    error = failure
                say(f"upstream: {error}; trying the distribution's packages")
            try:
                unpack_debian(apt, name, wrap, debian[name])
            except Failure as failure:
                raise Failure(
                    f"cannot get {wrap['directory']}: {failure}\n"
                    f"  upstream: {wrap['source_url']}: {error}\n"
                    f'  hint: put that archive into subprojects/packagecache/ and run again'
                ) from failure


if __name__ == '__main__':
    if platform.system() != 'Linux':
        sys.exit('bootstrap: error: sets up Linux only; elsewhere use meson setup')
    try:
        main()
    except Failure as error:
        sys.exit(f'bootstrap: error: {error}')
