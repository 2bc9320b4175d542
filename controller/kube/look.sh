# What a container has and lacks. A word and its values in each line.
export LC_ALL=C
echo "arch $(uname -m 2>/dev/null)"
for t in cat dd tee cp; do command -v $t >/dev/null 2>&1 && echo "writer $t"; done
command -v gzip >/dev/null 2>&1 && echo "unpacks gzip"
while read -r k a rest; do
  if [ "$k" = Uid: ]; then echo "user $a"; fi
done </proc/self/status
for g in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
  if [ -r $g ] && read -r n <$g && [ "$n" != max ] && [ ${#n} -lt 16 ]; then
    echo "limit $n"
    for u in ${g%/*}/memory.current ${g%/*}/memory.usage_in_bytes; do
      if [ -r $u ] && read -r n <$u; then echo "used $n"; fi
    done
    while read -r k n; do
      case $k in inactive_file | total_inactive_file) echo "spare $n"; break ;; esac
    done <${g%/*}/memory.stat
    break
  fi
done 2>/dev/null
good= f=
trap '[ -z "$f" ] || rm -f "$f"; exit 143' HUP INT TERM
for d in "$@"; do
  if [ ! -d "$d" ]; then echo "folder $d missing"; continue; fi
  f="$d/.rivulet-look-$$"
  why=$( { printf '#!/bin/sh\nexit 0\n' >"$f"; } 2>&1)
  if [ -n "$why" ] || [ ! -f "$f" ]; then
    case $why in
    *[Rr]ead-only*) echo "folder $d read-only" ;;
    *space*) echo "folder $d full" ;;
    *) echo "folder $d closed to this user" ;;
    esac
    f=
    continue
  fi
  if ! chmod 700 "$f" 2>/dev/null; then echo "folder $d without chmod"
  else
    "$f" >/dev/null 2>&1
    if [ $? = 126 ]; then echo "folder $d mounted noexec"; else good=$d; fi
  fi
  rm -f "$f" 2>/dev/null || : >"$f"
  f=
  if [ -n "$good" ]; then echo "folder $good"; break; fi
done
jvm() {
  if command -v grep >/dev/null 2>&1; then
    grep -q 'libjvm\.so' "$1/maps" 2>/dev/null && return 0
  else
    while read -r l; do case $l in *libjvm.so*) return 0 ;; esac; done 2>/dev/null <"$1/maps"
  fi
  c=
  read -r c 2>/dev/null <"$1/comm"
  [ "$c" = java ]
}
for p in /proc/[0-9]*; do
  if jvm $p; then
    u=
    while read -r k a rest; do [ "$k" = Uid: ] && u=$a; done 2>/dev/null <$p/status
    echo "jvm ${p#/proc/} $u"
    cat $p/cmdline 2>/dev/null
    printf '\000\n'
  fi
done
