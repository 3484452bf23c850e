#!/bin/sh
# Counts the instructions of kernels with valgrind and compares them with instructions.json.
#
#   callgrind.sh [--update] [--tolerance PERCENT] [--program PATH] [KERNEL...]
#
# Builds KernelBenchmark unless --program names one (built with -Xlinker --strip-debug).
# Exits with 1 when a kernel needs more instructions than before, beyond the tolerance (2 %); with 69
# when valgrind is not installed (apt-get install valgrind).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
update=no
tolerance=2
program=
while [ $# -gt 0 ]; do
  case $1 in
  --update) update=yes ;;
  --tolerance) shift; tolerance=$1 ;;
  --program) shift; program=$1 ;;
  --*) echo "error: unknown option $1" >&2; exit 64 ;;
  *) break ;;
  esac
  shift
done
# Those that are all our own code or call a library for a part only; the others vary with libraries.
[ $# -gt 0 ] || set -- png-fast png-fast-streaked png-compact png-depth-fast png-aligned-fast png-enlarged-fast \
  jpeg convert-ffmpeg convert-accurate structure-decode inflate align

command -v valgrind >/dev/null || { echo "error: valgrind is not installed" >&2; exit 69; }
if [ -z "$program" ]; then
  # Without debug information, which some versions of valgrind do not understand.
  build="swift build --package-path $here -c release -Xlinker --strip-debug"
  $build --product KernelBenchmark >&2
  program=$($build --show-bin-path)/KernelBenchmark
fi
compiler=$(swift --version 2>/dev/null | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
calls=2

# Instructions of the whole program, with what prepares the kernel, for a number of calls.
count() {
  if ! valgrind --tool=callgrind --callgrind-out-file="$work/out" "$program" "$1" \
    --iterations "$2" >"$work/words" 2>&1; then
    cat "$work/words" >&2
    exit 70
  fi
  sed -n 's/^summary: *\([0-9]*\).*/\1/p; s/^totals: *\([0-9]*\).*/\1/p' "$work/out" | head -n 1
}

for kernel in "$@"; do
  first=$(count "$kernel" 0)
  last=$(count "$kernel" $calls)
  echo "$kernel $first $last $calls" | tee -a "$work/counts" >&2
done
if [ $update = yes ]; then
  "$program" --write --compiler "$compiler" <"$work/counts" >"$work/json"
  mv "$work/json" "$here/instructions.json"
else
  "$program" --compare "$here/instructions.json" --tolerance "$tolerance" \
    --compiler "$compiler" <"$work/counts"
fi
