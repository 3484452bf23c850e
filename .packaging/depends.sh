#!/bin/sh
# depends.sh PROGRAM: the Debian packages that the program, and the programs scanmill-* beside it, need, each with its least version, as a `Depends:` line has
# them. FFmpeg's libraries, zimg and HDF5 are loaded when they are first used, so the program's file does not name them: a library
# of nothing but pointers to the functions in their functions.h does, and dpkg-shlibdeps looks at both.
set -eu
program=$(readlink -f "$1")
cd "$(dirname "$0")/.."
functions="Sources/CFFmpeg/functions.h Sources/CZimg/functions.h Sources/CHDF5/functions.h"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086
names=$(sed -nE 's/^F\([a-z0-9_]+, ([A-Za-z0-9_]+)\).*/\1/p' $functions)
[ -n "$names" ]
{
  for name in $names; do echo "extern char $name[];"; done
  echo "void *const used[] = {"
  for name in $names; do echo "  $name,"; done
  echo "};"
} >"$work/used.c"
compiler=$(command -v cc || command -v clang)
"$compiler" -fno-builtin -shared -fPIC -o "$work/used.so" "$work/used.c" \
  -Wl,--no-undefined -lavformat -lavcodec -lswscale -lavutil -lzimg -lhdf5_serial
mkdir "$work/debian"
printf 'Source: scanmill\n\nPackage: scanmill\nArchitecture: any\n' >"$work/debian/control"
cd "$work"
set -- "$program"
for name in scanmill-receive scanmill-send scanmill-synthesize; do
  beside=$(dirname "$program")/$name
  if [ -x "$beside" ]; then set -- "$@" "$beside"; fi
done
dpkg-shlibdeps -O "$work/used.so" "$@" 2>"$work/said" >"$work/found" || {
  cat "$work/said" >&2
  exit 1
}
sed -n 's/^shlibs:Depends=//p' "$work/found"
