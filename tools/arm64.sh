#!/bin/bash
# Fetch what a machine of arm64 consists of, for qemu to emulate: a kernel, a C library, busybox, and OpenJDK 8,
# 11, 17, 21 and 25, from Debian packages. Nothing is installed but qemu, and that only by root.
#   arm64.sh [FOLDER]     default: $RIVULET_ARM64 or ~/.cache/rivulet-arm64
set -euo pipefail
dir=${1:-${RIVULET_ARM64:-$HOME/.cache/rivulet-arm64}}
mkdir -p "$dir/debs" "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
exec 9>"$dir/lock"
flock 9 # another may be at it
if ! command -v qemu-system-aarch64 >/dev/null; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "arm64.sh: no qemu-system-aarch64 (as root: apt-get install qemu-system-arm)" >&2
    exit 1
  fi
  echo "No qemu for arm64 found: installing it." >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends qemu-system-arm >&2
fi
have() { compgen -G "$dir/debs/$1" >/dev/null; }
if ! have "linux-image-*.deb" || ! have "openjdk-25-jdk-*.deb" || ! have "openjdk-8-jdk-*.deb"; then
  echo "Fetching packages of arm64, 700 MB." >&2
  mirror=$(grep -hm1 -E '^URIs:' /etc/apt/sources.list.d/debian.sources | awk '{print $2}') # what this machine uses
  for suite in trixie sid; do
    echo "deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
  done >"$dir/apt/sources.list"
  apt="-o Dir::Etc::SourceList=$dir/apt/sources.list -o Dir::Etc::SourceParts=- -o Dir::State::Lists=$dir/apt/lists -o Dir::State::status=/dev/null
    -o Dir::Cache=$dir/apt/cache -o APT::Sandbox::User=root -o APT::Architecture=arm64 -o APT::Architectures=arm64"
  apt-get $apt update -qq
  kernel=$(apt-cache $apt depends linux-image-cloud-arm64/trixie | awk '/Depends/ { print $2; exit }')
  (cd "$dir/debs" && apt-get $apt download -qq {libc6,libgcc-s1,libstdc++6,zlib1g,busybox-static,"$kernel"}/trixie \
    openjdk-{21,25}-{jdk,jre}-headless/trixie openjdk-{8,11,17}-{jdk,jre}-headless/sid)
fi
echo "ready in $dir"
