#!/bin/bash
# Build a JVM for musl, the C library of Alpine Linux, from the source of Debian's OpenJDK 17, with the compiler of
# PyPI's package ziglang. Its classes are Debian's. It takes 40 minutes of a core and 3 GB.
#   musl.sh [FOLDER]     default: $RIVULET_MUSL or ~/.cache/rivulet-musl
set -euo pipefail
dir=${1:-${RIVULET_MUSL:-$HOME/.cache/rivulet-musl}}
zig=0.17.1
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
exec 9>"$dir/lock"
flock 9 # another may be at it
if [ -x "$dir/jdk/bin/java" ] && [ -x /lib/ld-musl-x86_64.so.1 ]; then
  echo "ready in $dir"
  exit
fi
if [ "$(uname -m)" != x86_64 ]; then
  echo "musl.sh: builds on x86-64 only" >&2
  exit 1
fi
missing=()
for tool in autoconf make zip unzip file ar:binutils python3 pip3:python3-pip; do
  command -v "${tool%:*}" >/dev/null || missing+=("${tool#*:}")
done
[ -e /lib/ld-musl-x86_64.so.1 ] || missing+=(musl)
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "musl.sh: what it takes is not installed (as root: apt-get install ${missing[*]})" >&2
    exit 1
  fi
  echo "Installing ${missing[*]}." >&2
  DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
fi

cd "$dir"
rm -rf build jdk.new
mkdir -p debs apt/lists/partial apt/cache/archives/partial build/bin build/x
if ! compgen -G "debs/openjdk-17_*.orig.tar.xz" >/dev/null || ! compgen -G "debs/ziglang-*.whl" >/dev/null; then
  echo "Fetching OpenJDK's source and a compiler, 280 MB." >&2
  mirror=$(grep -hm1 -E '^URIs:' /etc/apt/sources.list.d/debian.sources | awk '{print $2}') # what this machine uses
  for type in deb deb-src; do
    echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main"
  done >apt/sources.list
  apt="-o Dir::Etc::SourceList=$dir/apt/sources.list -o Dir::Etc::SourceParts=- -o Dir::State::Lists=$dir/apt/lists -o Dir::State::status=/dev/null
    -o Dir::Cache=$dir/apt/cache -o APT::Sandbox::User=root"
  apt-get $apt update -qq
  (cd debs && rm -f ./* && apt-get $apt source -qq --download-only openjdk-17 zlib &&
    apt-get $apt download -qq openjdk-17-{jdk,jre}-headless libcups2-dev libasound2-dev libfontconfig-dev &&
    pip3 download -q --no-deps --disable-pip-version-check "ziglang==$zig")
fi
cd build
for deb in ../debs/*.deb; do dpkg-deb -x "$deb" x; done
unzip -q ../debs/ziglang-*.whl -d zig
chmod +x zig/ziglang/zig
mkdir src z
tar xf ../debs/openjdk-17_*.orig.tar.xz --strip-components 1 -C src
tar xf ../debs/zlib_*.orig.tar.* --strip-components 1 -C z
boot=$dir/build/x/usr/lib/jvm/java-17-openjdk-amd64
find "$boot" -lname '/etc/*' | while read -r link; do ln -sfn "$dir/build/x$(readlink "$link")" "$link"; done # as if it were installed

# Debian's source has no zlib, whose files OpenJDK calls by names of its own.
zlib=src/src/java.base/share/native/libzip/zlib
mkdir -p $zlib
cp z/*.c z/*.h $zlib
mv $zlib/adler32.c $zlib/zadler32.c
mv $zlib/crc32.c $zlib/zcrc32.c

# The compilers, without what their linker does not take.
for name in cc c++; do
  for libc in musl gnu; do
    cat >bin/$libc-$name <<WRAPPER
#!/bin/bash
a=()
for x in "\$@"; do
  case \$x in
    -Wl,-z,noexecstack | -Wl,-O1 | -Wl,--hash-style=* | -Wl,--allow-shlib-undefined | -Wl,-z,origin | -Wl,--no-undefined) continue ;;
    -m64 | -march=* | -mtune=* | --target=*) continue ;;
    -Wl,-version-script* | -Wl,--version-script*) a+=(-Wl,--undefined-version) ;;
  esac
  a+=("\$x")
done
exec $dir/build/zig/ziglang/zig $name -target x86_64-linux-$libc -fno-sanitize=undefined -Wno-date-time $([ $libc = musl ] && echo -dynamic) "\${a[@]}"
WRAPPER
    chmod +x bin/$libc-$name
  done
done

echo "Building a JVM for musl: some 20 minutes on two cores. Its log is $dir/log." >&2
built=(hotspot java.base-libs java.base-launchers java.instrument-libs java.management-libs jdk.management-libs jdk.net-libs)
cd src
if ! {
  bash configure --openjdk-target=x86_64-unknown-linux-musl --with-toolchain-type=clang CC="$dir/build/bin/musl-cc" CXX="$dir/build/bin/musl-c++" \
    BUILD_CC="$dir/build/bin/gnu-cc" BUILD_CXX="$dir/build/bin/gnu-c++" AR="$(command -v ar)" NM="$(command -v nm)" STRIP="$(command -v strip)" \
    OBJCOPY="$(command -v objcopy)" OBJDUMP="$(command -v objdump)" --with-boot-jdk="$boot" --with-build-jdk="$boot" --enable-headless-only \
    --with-{freetype,libjpeg,giflib,libpng,lcms,zlib}=bundled --disable-warnings-as-errors --disable-precompiled-headers --with-jvm-variants=server \
    --with-jvm-features=-zgc,-shenandoahgc --with-native-debug-symbols=none --with-version-opt=musl --with-cups-include="$dir/build/x/usr/include" \
    --with-alsa="$dir/build/x/usr" --with-fontconfig-include="$dir/build/x/usr/include" && make "${built[@]}" JOBS="$(nproc)" LOG=warn
} >"$dir/log" 2>&1; then
  tail -20 "$dir/log" >&2
  echo "musl.sh: the build failed; the whole log is $dir/log" >&2
  exit 1
fi

cd "$dir"
support=$dir/build/src/build/linux-x86_64-server-release/support
mkdir -p jdk.new/bin jdk.new/lib/server
for target in "${built[@]}"; do
  module=${target%-libs}
  [ ! -d "$support/modules_libs/$module" ] || cp "$support/modules_libs/$module"/*.so jdk.new/lib/
done
cp "$support/modules_libs/java.base/server/libjvm.so" jdk.new/lib/server/
cp "$support/modules_libs/java.base/jspawnhelper" jdk.new/lib/
cp "$support/modules_cmds/java.base/java" jdk.new/bin/
cp -L "$boot"/lib/{modules,tzdb.dat,jvm.cfg} jdk.new/lib/
cp -rL build/x/etc/java-17-openjdk jdk.new/conf
strip --strip-unneeded jdk.new/lib/*.so jdk.new/lib/server/libjvm.so # as Alpine's are
jdk.new/bin/java -version
rm -rf jdk build
mv jdk.new jdk
echo "ready in $dir"
