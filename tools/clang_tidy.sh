#!/usr/bin/env bash
# Runs clang-tidy over the sources that differ from main, or over the files given. Too slow for
# ./test: some seconds a file. `tools/clang_tidy.sh --all` takes every source.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -f build/dev/compile_commands.json ]]; then
  cmake --preset dev >/dev/null
fi

case "${1:-}" in
  --all)
    mapfile -t files < <(git ls-files --cached --others --exclude-standard -- 'src/*.cc')
    ;;
  "")
    base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
    mapfile -t files < <({
      git diff --name-only --diff-filter=d "${base}" -- 'src/*.cc'
      git ls-files --others --exclude-standard -- 'src/*.cc'
    } | sort -u)
    ;;
  *) files=("$@") ;;
esac

# Tests are left to the compiler: GoogleTest's macros alone take most of a minute.
sources=()
for file in "${files[@]}"; do
  [[ ${file} == *_test.cc ]] || sources+=("${file}")
done
if [[ ${#sources[@]} -eq 0 ]]; then
  echo "clang-tidy: no source has changed"
  exit 0
fi
printf '%s\n' "${sources[@]}" |
  xargs -P "$(nproc)" -n 1 clang-tidy-19 --quiet -p build/dev
