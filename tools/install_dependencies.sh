#!/usr/bin/env bash
# Installs the Debian packages that are missing, by name. If none is missing, it costs one dpkg
# query.
#   tools/install_dependencies.sh run    what building and running needs
#   tools/install_dependencies.sh test   the same, and what ./test needs as well
set -euo pipefail

build_packages=(
  clang-19 ninja-build ccache mold cmake git python3
  libboost1.81-dev libboost-json1.81-dev libsqlite3-dev libpq-dev libssl-dev libfmt-dev zlib1g-dev
  libspdlog-dev libtomlplusplus-dev
  # CMake looks for these at configure time, for every target.
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
)
# Node.js builds the page; if it is too old, tools/node.sh finds another. Some sources include npm.
command -v npm >/dev/null || build_packages+=(nodejs npm)
# Chromium runs the tests of the page.
# postgresql-15 is the server that the tests start for themselves.
# podman with runc and dockerd run the sessions in containers, with an image of busybox.
# openssh-server and iproute2 make another host of namespaces. zsh and fish load the completions.
test_packages=(lld-19 llvm-19 libclang-rt-19-dev clang-tidy-19 clang-format-19 sqlite3
  postgresql-15 chromium podman runc docker.io busybox-static openssh-server openssh-client
  iproute2 zsh fish man-db groff)

case "${1:-test}" in
  run) wanted=("${build_packages[@]}") ;;
  test) wanted=("${build_packages[@]}" "${test_packages[@]}") ;;
  *)
    echo "usage: tools/install_dependencies.sh [run|test]" >&2
    exit 2
    ;;
esac

# dpkg-query exits 1 if it does not know one of the names; those packages are missing.
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qx "${package} installed" <<<"${installed}" || missing+=("${package}")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "These packages are missing; installing them needs root or sudo:" >&2
    echo "  ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "installing: ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${missing[@]}"
