#!/usr/bin/env bash
# Runs a test program as somebody without rights: root becomes `nobody`, others stay who they are.
#   tools/as_ordinary_user.sh PROGRAM ARGS
# Exits with 0 and says so where `nobody` may not enter the folder of the program.
set -euo pipefail
if [[ $(id -u) != 0 ]]; then exec "$@"; fi
become=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if ! "${become[@]}" test -x "$1" || ! "${become[@]}" test -r tests/security/attacks.py; then
  echo "# SKIP nobody may not enter $(pwd)"
  exit 0
fi
home=$(mktemp -d)
trap 'rm -rf "${home}"' EXIT
chown 65534:65534 "${home}"
env -u XDG_RUNTIME_DIR HOME="${home}" TMPDIR="${home}" PYTHONDONTWRITEBYTECODE=1 "${become[@]}" "$@"
