#!/usr/bin/env python3
"""Holds the sources to the layers: a directory includes only those that src/meson.build names for it, and nothing outside os/ (and main.cc)
touches the system.

    check_layers.py SOURCE_ROOT
"""

import pathlib
import re
import sys

# What talks to the kernel, the environment, the clock or a terminal.
SYSTEM_HEADER = re.compile(r"(sys|linux|asm|net|netinet|arpa|mach)/.*|(unistd|fcntl|sched|dirent|signal|poll|pwd|grp|termios|spawn|pthread|"
                           r"errno|time|stdio|stdlib|dlfcn|glob|ftw|wordexp)\.h|c(stdio|stdlib|time|signal|errno)|"
                           r"(filesystem|fstream|iostream|thread|mutex|chrono|random|regex|format)")
# errno numbers are values that a FileView returns.
PURE = {"cerrno", "errno.h"}
SYSTEM_CALL = re.compile(r"\b(getenv|setenv|system|popen|abort|time|rand|getpid|getuid|isatty)\s*\(")
MAY_INCLUDE_MAIN = {"app", "os", "base"}


def layers_of(meson_build):
    """The table `layers` of src/meson.build, with what each layer's own uses may use in turn."""
    text = meson_build.read_text()
    table = re.search(r"^layers = \{\n(.*?)^\}", text, re.M | re.S)
    if not table:
        sys.exit("check_layers: src/meson.build has no table `layers`")
    direct = {name: re.findall(r"'(\w+)'", uses) for name, uses in re.findall(r"'(\w+)': \[(.*?)\]", table.group(1), re.S)}

    def closure(name):
        found = {name}
        for used in direct[name]:
            found |= closure(used)
        return found
    return {name: closure(name) for name in direct}


def problems_of(path, layer, allowed, directories):
    found = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if include:
            kind, name = include.groups()
            first = name.split("/")[0]
            if kind == '"' and first in directories and first not in allowed:
                found.append(f"{path}:{number}: {layer}/ may not include {first}/")
            if kind == "<" and layer not in ("os", "main") and name not in PURE and SYSTEM_HEADER.fullmatch(name):
                found.append(f"{path}:{number}: <{name}> belongs in os/")
            if "toml++" in name and not (layer == "policy" and path.name.startswith("toml_")):
                found.append(f"{path}:{number}: toml++ belongs in policy/toml_source.cc")
        elif layer not in ("os", "main"):
            code = re.sub(r'"(\\.|[^"\\])*"', '""', line.split("//")[0])
            call = SYSTEM_CALL.search(code)
            if call:
                found.append(f"{path}:{number}: {call.group(1)}() belongs in os/")
    return found


def main():
    root = pathlib.Path(sys.argv[1])
    layers = layers_of(root / "src/meson.build")
    directories = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    found = [f"src/{name}: not in the table `layers`" for name in sorted(directories - set(layers))]
    count = 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        count += 1
        relative = path.relative_to(root / "src")
        layer = relative.parts[0] if len(relative.parts) > 1 else "main"
        allowed = MAY_INCLUDE_MAIN if layer == "main" else layers.get(layer, set())
        if path.name == "gen_main.cc":
            continue  # a program of the build, which prints
        found += problems_of(path, layer, allowed, directories)
    print("\n".join(found) if found else f"ok: {count} files in {len(layers)} layers")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
