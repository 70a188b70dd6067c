#!/usr/bin/env bash
# Runs a program as on another kind of machine (SECURITY.md), in namespaces and a control group that
# end with it. Run by root it makes all of them; by somebody else all but `root`.
#   tools/on_machine.sh KIND PROGRAM ARGS
#   root         as root
#   user         as an ordinary user who may make user namespaces
#   masked       user namespaces without a process namespace: a part of /proc is covered
#   masked-group the same, with a control group of its own
#   none         no namespaces
#   none-group   the same, with a control group of its own
# The program finds the kind in PERDURE_MACHINE. Where this kernel cannot make such a machine, it
# prints `# SKIP why` and exits with 0.
set -euo pipefail

skip() { echo "# SKIP $1"; exit 0; }

# The stages below run in the namespaces of the one before.
case "${1}" in
  --covered)
    shift
    mount -t tmpfs -o ro covered /proc/scsi 2>/dev/null || mount -t tmpfs -o ro covered /proc/irq
    exec unshare --user --map-user="$1" --map-group="$2" --mount -- "${@:3}" ;;
  --unsharing-refused)
    shift
    echo 0 >/proc/sys/user/max_user_namespaces
    exec setpriv --inh-caps=-all --ambient-caps=-all -- "$@" ;;
esac

kind=$1
shift
become=()
uid=$(id -u) gid=$(id -g)
if [[ ${uid} == 0 && ${kind} != root ]]; then
  become=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  uid=65534 gid=65534
fi
"${become[@]}" test -x "$1" || skip "the user ${uid} may not enter $(pwd)"
home=$(mktemp -d)
group=
clean_up() {
  rm -rf "${home}"
  [[ -n ${group} ]] || return 0
  echo 1 >"${group}/cgroup.kill"
  # What was killed may still be leaving.
  for _ in {1..200}; do
    find "${group}" -depth -type d -exec rmdir {} + 2>/dev/null && return 0
    sleep 0.05
  done
  echo "${group} is still in use" >&2
}
trap clean_up EXIT
if [[ ${kind} == *-group ]]; then
  [[ $(id -u) == 0 ]] || skip "only root can give a control group away"
  mounted=$(findmnt -n -o TARGET -t cgroup2 | head -1)
  [[ -n ${mounted} ]] || skip "no unified control groups are mounted"
  group=${mounted}/perdure_machine_$$
  mkdir "${group}" || skip "no control group can be made"
  chown -R "${uid}:${gid}" "${group}"
  become=(sh -c 'echo 0 >"$0/cgroup.procs" && exec "$@"' "${group}" "${become[@]}")
fi
chown "${uid}:${gid}" "${home}"
make=()
may_unshare() { "${become[@]}" unshare --user --map-root-user --mount true 2>/dev/null; }
case ${kind} in
  root) [[ ${uid} == 0 ]] || skip "only root is root" ;;
  user) may_unshare || skip "no user namespaces here" ;;
  masked*)
    may_unshare || skip "no user namespaces here"
    make=(unshare --user --map-root-user --mount -- "$0" --covered "${uid}" "${gid}") ;;
  none*)
    if may_unshare; then
      make=(unshare --user --map-current-user --keep-caps -- "$0" --unsharing-refused)
    fi ;;
  *) echo "no such kind: ${kind}" >&2; exit 2 ;;
esac
env -u XDG_RUNTIME_DIR HOME="${home}" TMPDIR="${home}" PYTHONDONTWRITEBYTECODE=1 \
  PERDURE_MACHINE="${kind}" "${become[@]}" "${make[@]}" "$@"
