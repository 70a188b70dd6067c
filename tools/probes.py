#!/usr/bin/env python3
"""Lists every SIM_PROBE name in the given folders as C++ string literals, sorted."""
import pathlib
import re
import sys

out, *folders = sys.argv[1:]
names = set()
for folder in folders:
    for path in sorted(pathlib.Path(folder).rglob("*.cc")):
        if not path.name.endswith("_test.cc"):
            names.update(re.findall(r'SIM_PROBE\("([^"]+)"\)', path.read_text()))
text = "".join(f'    "{name}",\n' for name in sorted(names))
target = pathlib.Path(out)
if not target.exists() or target.read_text() != text:
    target.write_text(text)
