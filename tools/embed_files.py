#!/usr/bin/env python3
"""Puts the files of a folder into one C++ file: OUT.bin holds them compressed, one behind another,
and OUT.cc the table that http/static_files.h declares. The same files give the same bytes.

  tools/embed_files.py --version 1.2.3 FOLDER OUT
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


def content(path, version):
    data = path.read_bytes()
    if path.suffix == ".html":
        data = data.replace(b"@PERDURE_VERSION@", version.encode())
    return data


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()

    blob, rows = b"", []
    for path in sorted(arguments.folder.rglob("*")):
        if not path.is_file() or path.name.startswith("."):
            continue
        if path.suffix not in CONTENT_TYPES:
            raise SystemExit(f"{path}: no content type is known for this suffix")
        data = content(path, arguments.version)
        packed = gzip.compress(data, 9, mtime=0)
        name = "/" + path.relative_to(arguments.folder).as_posix()
        immutable = name.startswith("/assets/") and bool(HASHED.search(name))
        rows.append(f'    {{"{name}", "{CONTENT_TYPES[path.suffix]}", '
                    f'"{hashlib.sha256(data).hexdigest()[:32]}", '
                    f"{{begin + {len(blob)}, {len(packed)}}}, {len(data)}, "
                    f"{'true' if immutable else 'false'}}},\n")
        blob += packed

    arguments.out.with_name(arguments.out.name + ".bin").write_bytes(blob)
    binary = arguments.out.resolve().as_posix() + ".bin"
    text = f"""// Made by tools/embed_files.py.
#include "http/static_files.h"

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
