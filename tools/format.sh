#!/usr/bin/env bash
# Formats the C++ files of this repository in place, as the tidy test wants them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

files=('src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc' 'bench/*.h' 'bench/*.cc')
git ls-files -z --cached --others --exclude-standard -- "${files[@]}" | xargs -0r clang-format-19 -i
