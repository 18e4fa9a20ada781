#!/usr/bin/env bash
# Fuzzes every target for some seconds (default 300), or only the targets named after the seconds.
#   tools/fuzz.sh [seconds] [name ...]
# What crashes one joins fuzz/corpus/<name>, which ./test replays; what libFuzzer finds on the way stays in build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/setup.sh
source tools/setup.sh
install_packages "${kBuildPackages[@]}" "${kFuzzPackages[@]}"

seconds=${1:-300}
shift || true
names=("$@")
if [ "${#names[@]}" -eq 0 ]; then
  mapfile -t names < <(find fuzz -maxdepth 1 -name '*_fuzz.cpp' -printf '%f\n' | sed 's/_fuzz\.cpp$//' | sort)
fi
mkdir -p build/fuzz
cmake --preset fuzz >build/fuzz/configure.log
cmake --build --preset fuzz --target "${names[@]/%/_fuzz}"

failed=0
for name in "${names[@]}"; do
  work="build/fuzz/corpus/$name"
  crashes="build/fuzz/crashes/$name"
  log="build/fuzz/$name.log"
  rm -rf "$crashes"
  mkdir -p "$work" "$crashes"
  cp -n "fuzz/corpus/$name"/* "$work"/ 2>/dev/null || true
  if "build/fuzz/bin/${name}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$crashes/" "$work" >"$log" 2>&1; then
    echo "ok     $name: $(grep -c . < <(ls "$work")) inputs, $(tail -n 1 "$log")"
  else
    failed=$((failed + 1))
    cp "$crashes"/* "fuzz/corpus/$name"/ 2>/dev/null || true
    grep -m 1 -E 'ERROR|SUMMARY|runtime error' "$log" || true
    echo "FAILED $name: the input joined fuzz/corpus/$name, the report is in $log"
  fi
done
echo "$((${#names[@]} - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
