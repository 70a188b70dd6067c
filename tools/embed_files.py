#!/usr/bin/env python3
"""Puts the files of a folder into one C++ file: OUT.bin holds their forms, one behind another, and
OUT.cc the table that net/server/static_files.h declares. A file with a brotli form beside it
(NAME.br) is kept as gzip and brotli, any other as it is. The same files give the same bytes.

  tools/embed_files.py FOLDER OUT
"""

import argparse
import gzip
import hashlib
import re
from pathlib import Path

CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json", ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".jpg": "image/jpeg",
    ".webp": "image/webp", ".woff2": "font/woff2", ".wasm": "application/wasm",
    ".txt": "text/plain; charset=utf-8", ".map": "application/json",
}
# Names that a bundler made from the content: what they lead to never changes.
HASHED = re.compile(r"[-.][A-Za-z0-9_-]{8,}\.\w+$")


class Blob:
    """All forms, one behind another."""

    def __init__(self):
        self.bytes = b""

    def add(self, data):
        """The C++ initializer of the view of these bytes; an empty one for none."""
        if not data:
            return "{}"
        view = f"{{begin + {len(self.bytes)}, {len(data)}}}"
        self.bytes += data
        return view


def row(path, folder, blob):
    if path.suffix not in CONTENT_TYPES:
        raise SystemExit(f"{path}: no content type is known for this suffix")
    data = path.read_bytes()
    beside = path.with_name(path.name + ".br")
    brotli = beside.read_bytes() if beside.exists() else b""
    gzipped = gzip.compress(data, 9, mtime=0) if brotli else b""
    name = "/" + path.relative_to(folder).as_posix()
    immutable = name.startswith("/assets/") and bool(HASHED.search(name))
    return (f'    {{"{name}", "{CONTENT_TYPES[path.suffix]}", '
            f'"{hashlib.sha256(data).hexdigest()[:32]}", '
            f"{blob.add(b'' if gzipped else data)}, {blob.add(gzipped)}, {blob.add(brotli)}, "
            f"{len(data)}, {'true' if immutable else 'false'}}},\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()

    blob = Blob()
    files = [path for path in sorted(arguments.folder.rglob("*"))
             if path.is_file() and path.suffix != ".br" and not path.name.startswith(".")]
    if not files:
        raise SystemExit(f"{arguments.folder} has no files")
    rows = [row(path, arguments.folder, blob) for path in files]

    arguments.out.with_name(arguments.out.name + ".bin").write_bytes(blob.bytes)
    binary = arguments.out.resolve().as_posix() + ".bin"
    text = f"""// Made by tools/embed_files.py.
#include "net/server/static_files.h"

asm(".section .rodata\\n"
    ".balign 16\\n"
    "perdure_embedded_begin:\\n"
    ".incbin \\"{binary}\\"\\n"
    ".byte 0\\n"
    ".previous\\n");
extern const char begin[] asm("perdure_embedded_begin");

namespace perdure {{

std::span<const EmbeddedFile> embedded_files() {{
  static const EmbeddedFile files[] = {{
{''.join(rows)}  }};
  return files;
}}

}}  // namespace perdure
"""
    arguments.out.with_name(arguments.out.name + ".cc").write_text(text)


if __name__ == "__main__":
    main()
