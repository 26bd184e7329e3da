#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check who includes what: tests/lint/rooms.py [TREE]

Each folder is a room. ROOMS says which rooms its files may include from, and of
those which headers: "*" is all, else the names of the public ones. Whatever is
not there is a step upwards or into somebody's private things. SYSTEM says who
alone may include the headers of a library. Prints one line for each include
that is wrong, and one for a circle of files that is too long or a room that
is too full; exits with 1 if there is any.

Each include names its folder from the top of the tree; in the module, which Kbuild
compiles in a folder of its own, from the top of the module.
"""

import collections
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # nothing is written into the tree
from circles import circles

STREAM = {"module/uapi": "*"}


def every(*rooms):
    """All headers of these rooms."""
    return {room: "*" for room in rooms}


def below(room, *rooms):
    """All headers of these rooms below a room."""
    return every(*(f"{room}/{name}" for name in rooms))


LIBOP = {
    **below("libop", "base", "files", "image", "kernel", "session", "classic",
            "events", "options"),
    **STREAM,
}
STORES = {"libdb": "*"}
SYMBOLS = (
    "debuginfod.h demangle.h elf_digest.h inline_answers.h op_bfd.h op_disasm.h"
    " perf_map.h sha256.h source_path.h symtab.h unpack.h"
)
LIBPP = every("libpp", "libpp/select", "libpp/images", "libpp/tree", "libpp/report",
              "libpp/archive")
REPORTS = {**LIBPP, "libpp/symbols": SYMBOLS, **STORES, **LIBOP}
PROGRAM = {
    **LIBPP,
    "libpp/merge": "merge.h",
    "libpp/format": "format.h gmon.h profile.pb-c.h",
    "libpp/format/text": "text.h text_fit.h",
    "libpp/symbols": SYMBOLS,
    **STORES,
    **LIBOP,
}
SOURCES = {
    **every("daemon/source"),
    **below("daemon/source", "perf", "perfdata", "oprofilefs", "jit", "untrusted",
            "waits"),
    "libcfi": "cfi.h cfi_return.h unwinder.h",
    **LIBOP,
}
STORE = "opd_disk.h opd_image.h opd_sfile.h opd_store.h"

DAEMON = {
    "daemon": "*",
    "daemon/context": "*",
    "daemon/user_samples": "*",
    "daemon/source": "opd_events.h opd_source.h opd_stream.h",
    "daemon/source/untrusted": "opd_untrusted.h opd_memory_image.h opd_returns.h",
    "daemon/store": f"{STORE} opd_history.h opd_leftovers.h opd_reserve.h"
    " opd_session.h opd_tree.h",
    "daemon/feature": "opd_extended.h",
    "libcfi": "cfi.h unwinder.h",
    **STORES,
    **LIBOP,
}

# What every room of the module may use: its counts, its files, what kernels differ
# in, and what it asks of the conductor.
MODULE_BASE = {
    "module": "compat.h handler_time.h oprofile_provider.h oprofile_stats.h"
    " oprofilefs.h owner.h settings.h",
    **STREAM,
}

ROOMS = {
    "module/uapi": {},
    "module/image": MODULE_BASE,
    "module/buffer": {"module/image": "*", **MODULE_BASE},
    "module/sample": {**every("module/image", "module/buffer"), **MODULE_BASE},
    "module/counter": {**every("module/buffer", "module/sample"), **MODULE_BASE},
    "module": {
        **every("module/image", "module/buffer", "module/sample", "module/counter"),
        **STREAM,
    },
    "libop/base": STREAM,
    "libop/files": {**below("libop", "base"), **STREAM},
    "libop/image": {**below("libop", "base", "files"), **STREAM},
    "libop/kernel": {**below("libop", "base", "files", "image"), **STREAM},
    "libop/session": {**below("libop", "base", "files", "image", "kernel"), **STREAM},
    "libop/classic": {**below("libop", "base", "files", "session"), **STREAM},
    "libop/events": {**below("libop", "base", "files", "classic"), **STREAM},
    "libop/options": {**below("libop", "base"), **STREAM},
    # The stores share the files that tables are in; libdb has their public
    # headers.
    "libdb": LIBOP,
    "libdb/table": {**STORES, "libdb/tree": "*", **LIBOP},
    "libdb/tree": {**STORES, "libdb/table": "*", **LIBOP},
    "libdb/pack": {**STORES, "libdb/table": "*", "libdb/tree": "*", **LIBOP},
    "libdb/timeline": {**STORES, "libdb/table": "db_file.h", "libdb/pack": "pack_bytes.h",
                       **LIBOP},
    "libcfi": LIBOP,
    "libpp/symbols": {"libpp/symbols/dwarf": "*", "libcfi": "cfi.h", **LIBOP},
    "libpp/symbols/dwarf": {"libpp/symbols": "*", **LIBOP},
    **{room: REPORTS for room in LIBPP},
    "libpp/format": {"libpp/format/text": "*", **LIBPP, **LIBOP},
    "libpp/format/text": {"libpp/format": "*", **LIBPP, **LIBOP},
    "libpp/merge": REPORTS,
    "pp": PROGRAM,
    **{
        f"pp/{program}": {"pp": "*", **PROGRAM}
        for program in ("opannotate", "opgprof", "oparchive", "opmerge",
                        "opimport", "oppush", "opsymbols", "optop")
    },
    # Reports as pages show the code of functions.
    "pp/opreport": {
        "pp": "*",
        "pp/opannotate": "opannotate_files.h opannotate_options.h",
        **PROGRAM,
    },
    **{room: SOURCES for room in SOURCES if room.startswith("daemon/")},
    "daemon/store": {"daemon/source": "opd_events.h opd_proc.h", **STORES, **LIBOP},
    "daemon/feature": {
        "daemon": "opd_stats.h",
        "daemon/source": "opd_events.h opd_source.h opd_stream.h",
        "daemon/store": STORE,
        **STORES,
        **LIBOP,
    },
    "daemon": DAEMON,
    "daemon/context": DAEMON,
    "daemon/user_samples": DAEMON,
    "daemon/user_samples": DAEMON,
    "utils": LIBOP,
    "utils/opcontrol": {"utils": "*", **LIBOP},
    "utils/operf": {"utils": "*", **LIBOP},
    "utils/ocount": {"utils": "*", **LIBOP},
    "utils/ophelp": {"utils": "*", **LIBOP},
    "utils/opstream": {"utils": "*", **LIBOP},
    "utils/original": LIBOP,
    "events": LIBOP,
    "libagent": {"libop/base": "op_cursor.h", "libop/image": "op_jitdump.h"},
}

# Headers of libraries, as patterns, and the files that may include them.
SYSTEM = {
    r"bfd\.h|dis-asm\.h": r"libpp/symbols/op_bfd\w*\.[ch]",
    r"demangle\.h|libiberty\.h": r"libpp/symbols/\w+\.[ch]",
    r"elfutils/debuginfod\.h": r"libpp/symbols/debuginfod\.c",
    r"lzma\.h": r"libpp/symbols/unpack\.c",
    r"zstd\.h": r"libpp/symbols/unpack\.c|daemon/source/perfdata/opd_perfdata_reader\.c",
    r"protobuf-c/.*": "",
    r"nettle/sha2\.h": r"libpp/symbols/sha256\.[ch]",
    r"nettle/base64\.h": r"pp/oppush/oppush_send\.c",
    r"curl/.*": r"pp/oppush/oppush(_send)?\.c",
    r"jni\.h|jvmti(cmlr)?\.h": r"libagent/jvmti_oprofile\.c",
    r"curses\.h": r"pp/optop/optop_terminal\.c",
    r"popt\.h": r"(pp|utils)(/\w+)?/\w+\.[ch]|daemon/(opd_options|oprofiled)\.c|libop/options/op_bad_option\.[ch]",
    r"cmocka\.h": "",
}

# A file and its header count as one. The longest is those parts of the daemon that
# know the whole of it: it may only get shorter.
LONGEST_CIRCLE = 6

# Files in a room.
MOST_FILES = 40

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^">]+)[">]', re.M)


def read_includes(tree):
    """{file: [(bracket, header)]} of all rooms, ours from the top of the tree."""
    files = {}
    for room in ROOMS:
        for path in sorted((tree / room).glob("*.[ch]")):
            name = str(path.relative_to(tree))
            top = "module/" if name.startswith("module/") else ""
            files[name] = [
                (bracket, top + header if bracket == '"' else header)
                for bracket, header in INCLUDE.findall(path.read_text())
            ]
    return files


def room_of(name):
    return name.rpartition("/")[0]


def wrong_include(name, header):
    """Why the file may not include this header of ours; '' if it may."""
    room, to = room_of(name), room_of(header)
    if header == "config.h" or to == room:
        return ""
    if not to:
        return "names no folder"
    public = ROOMS[room].get(to)
    if public is None:
        return f"{room} may not include from {to}"
    if public != "*" and header.rpartition("/")[2] not in public.split():
        return f"is private to {to}"
    return ""


def wrong_system_include(name, header, tree):
    if (tree / header).is_file():
        return "is ours: include it with quotes"
    for pattern, users in SYSTEM.items():
        if re.fullmatch(pattern, header) and not re.fullmatch(users, name):
            return f"only {users or 'tests'} may include it"
    return ""


def graph_of_includes(files):
    """{file: those that it includes}, without their suffixes."""
    graph = collections.defaultdict(set)
    for name, includes in files.items():
        graph[name[:-2]] |= {
            header[:-2] for _, header in includes if header in files
        }
    return graph


def main():
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = read_includes(tree)
    wrong = []
    for name, includes in files.items():
        for bracket, header in includes:
            if bracket == '"':
                why = wrong_include(name, header)
            else:
                why = wrong_system_include(name, header, tree)
            if why:
                wrong.append(f"{name}: {header}: {why}")
    for room in ROOMS:
        nr = sum(path.is_file() for path in (tree / room).glob("*"))
        if nr > MOST_FILES:
            wrong.append(f"{room}: {nr} files; a room has at most {MOST_FILES}")
    for circle in circles(graph_of_includes(files)):
        if len(circle) > LONGEST_CIRCLE:
            wrong.append(
                f"{len(circle)} files include one another: {' '.join(circle)}"
            )
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


main()
