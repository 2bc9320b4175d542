#!/bin/bash
# Run the test task again and again beside a busy loop, until one run fails. A test that passes
# only on a machine with nothing else to do fails here sooner or later.
#   soaktests.sh RUNS [ARGUMENT...]     the arguments are those of "go tool task test --"
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:?number of runs}
shift
if ! [[ $runs =~ ^[1-9][0-9]*$ ]]; then
  echo "soaktests.sh: the number of runs is \"$runs\", not 1 or more" >&2
  exit 1
fi
logs=$(mktemp -d)
(while kill -0 $$ 2>/dev/null; do :; done) & # ends with this script, however that ends
hog=$!
trap 'kill $hog 2>/dev/null; rmdir "$logs" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
for ((i = 1; i <= runs; i++)); do
  log=$logs/$i.log
  start=$SECONDS
  result=0
  go tool task test ${1+-- "$@"} >"$log" 2>&1 || result=$?
  took=$((SECONDS - start))
  if [ $result != 0 ]; then
    grep -E '^ *--- FAIL|^FAIL|^panic:' "$log" || tail -20 "$log"
    echo "run $i of $runs failed after $took s; what it printed: $log"
    exit 1
  fi
  echo "run $i of $runs passed in $took s"
  rm "$log"
done
