#!/bin/bash
# Fetch what other compilers and tools than javac make of source: the class
# files of Kotlin, Scala, Groovy and Clojure from Debian packages, and output of
# ProGuard, which shrinks, obfuscates and optimizes a jar. ASM comes along, for
# the race in docs/figures/rewriter.md. Nothing is installed.
#   corpora.sh [FOLDER]     default: $RIVULET_CORPORA or ~/.cache/rivulet-corpora
set -euo pipefail
dir=${1:-${RIVULET_CORPORA:-$HOME/.cache/rivulet-corpora}}
bench=${RIVULET_BENCH:-$HOME/.cache/rivulet-bench}
packages="libasm-java kotlin scala-library groovy libclojure-java libspec-alpha-clojure libcore-specs-alpha-clojure libproguard-java libgoogle-gson-java libbsf-java"
mkdir -p "$dir/debs" "$dir/root" "$dir/proguard"
exec 9>"$dir/lock"
flock 9 # another may be at it
apt-cache show libasm-java >/dev/null 2>&1 || apt-get update -qq
cd "$dir/debs"
for p in $packages; do
  compgen -G "${p}_*.deb" >/dev/null || apt-get -o APT::Sandbox::User=root download -qq "$p" || echo "corpora.sh: no package $p" >&2
done
for f in *.deb; do dpkg -x "$f" "$dir/root"; done

# ProGuard 6 reads class files up to Java 13's and needs a JDK 8 to stand on.
rt=$bench/jdk/8/home/jre/lib/rt.jar
proguard=$dir/root/usr/share/java/proguard.jar
java=$(command -v java || true)
if [ ! -e "$proguard" ] || [ ! -e "$rt" ] || [ -z "$java" ]; then
  echo "corpora.sh: no ProGuard, no JDK 8 or no java: nothing shrunk" >&2
  exit 0
fi
for jar in "$dir"/root/usr/share/java/{asm-all,gson,scala-library}.jar "$bench"/root/usr/share/java/{sunflow,xercesImpl}.jar; do
  [ -e "$jar" ] || continue
  out=$dir/proguard/$(basename "$jar" .jar)-proguard.jar
  [ -s "$out" ] && continue
  cat >"$dir/proguard/rules" <<RULES
-injars '$(readlink -f "$jar")'(!META-INF/versions/**,!module-info.class)
-outjars '$out'
-libraryjars '$rt'
-dontwarn **
-dontnote **
-ignorewarnings
-optimizationpasses 1
$([ "$(basename "$jar")" = scala-library.jar ] || echo -dontshrink)
-allowaccessmodification
-overloadaggressively
-repackageclasses ''
-keep public class * { public static void main(java.lang.String[]); public *** [a-m]*(...); }
RULES
  timeout 600 "$java" -Xmx2g -cp "$(echo "$dir"/root/usr/share/java/*.jar | tr ' ' ':')" proguard.ProGuard "@$dir/proguard/rules" >"$dir/proguard/log" 2>&1 || {
    echo "corpora.sh: ProGuard failed on $jar:" >&2
    tail -3 "$dir/proguard/log" >&2
    rm -f "$out"
  }
done
echo "ready in $dir"
