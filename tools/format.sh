#!/usr/bin/env bash
# Formats the C++ files of this repository in place, as the tidy test wants them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

git ls-files -z --cached --others --exclude-standard -- \
  'src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc' 'bench/*.h' 'bench/*.cc' | xargs -0r clang-format-19 -i
