#!/usr/bin/env python3
"""Checks what a linked agent-exec is, from its headers.

Usage: check_binary.py FILE elf|macho CPU

    elf     static, no dynamic section, RELRO, no executable stack, stripped, at most 900 kB
    macho   an executable for CPU
"""

import pathlib
import struct
import sys

SIZE_LIMIT_BYTES = 900_000

ELF_MACHINES = {'x86_64': 62, 'aarch64': 183}
MACHO_CPUS = {'x86_64': 0x01000007, 'aarch64': 0x0100000C}

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
PT_GNU_STACK, PT_GNU_RELRO = 0x6474E551, 0x6474E552
PF_X, PF_W = 1, 2
SHT_SYMTAB = 2


def elf_problems(data, cpu):
    if data[:6] != b'\x7fELF\x02\x01':
        yield 'not a 64-bit little-endian ELF file'
        return
    kind, machine = struct.unpack_from('<HH', data, 16)
    program_headers, section_headers = struct.unpack_from('<QQ', data, 32)
    program_size, program_count, section_size, section_count = struct.unpack_from('<HHHH', data, 54)
    if kind != 2:
        yield f'ELF type {kind}, not an executable at a fixed address'
    if machine != ELF_MACHINES[cpu]:
        yield f'ELF machine {machine}, not {cpu}'
    flags = {}
    for index in range(program_count):
        segment, flag = struct.unpack_from('<II', data, program_headers + index * program_size)
        flags.setdefault(segment, []).append(flag)
    for segment, name in ((PT_INTERP, 'an interpreter'), (PT_DYNAMIC, 'a dynamic section')):
        if segment in flags:
            yield f'has {name}'
    if PT_GNU_RELRO not in flags:
        yield 'no RELRO segment'
    if any(flag & PF_X for flag in flags.get(PT_GNU_STACK, [PF_X])):
        yield 'the stack is executable'
    if any(flag & PF_X and flag & PF_W for flag in flags.get(PT_LOAD, [])):
        yield 'a segment is writable and executable'
    for index in range(section_count):
        (section,) = struct.unpack_from('<I', data, section_headers + index * section_size + 4)
        if section == SHT_SYMTAB:
            yield 'not stripped'
    if len(data) > SIZE_LIMIT_BYTES:
        yield f'{len(data)} bytes, more than {SIZE_LIMIT_BYTES}'


def macho_problems(data, cpu):
    magic, actual_cpu, _, kind = struct.unpack_from('<IIII', data, 0)
    if magic != 0xFEEDFACF:
        yield 'not a 64-bit Mach-O file'
        return
    if actual_cpu != MACHO_CPUS[cpu]:
        yield f'Mach-O CPU {actual_cpu:#x}, not {cpu}'
    if kind != 2:
        yield f'Mach-O type {kind}, not an executable'


def problems_of(path, kind, cpu):
    data = pathlib.Path(path).read_bytes()
    return list((elf_problems if kind == 'elf' else macho_problems)(data, cpu))


def main():
    path, kind, cpu = sys.argv[1:]
    problems = problems_of(path, kind, cpu)
    for problem in problems:
        print(f'{path}: {problem}')
    print(f'{pathlib.Path(path).stat().st_size} bytes')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
