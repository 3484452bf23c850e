#!/bin/sh
# licenses.sh PACKAGES TO: collects the license texts of what is part of the program's own file, the Swift packages
# (checked out below PACKAGES) and the runtime of Swift, which go with every copy of it.
set -eu
packages=$1
to=$2
rm -rf "$to"
mkdir -p "$to"
for package in "$packages"/*/; do
  name=$(basename "$package")
  for text in "$package"LICENSE* "$package"NOTICE*; do
    [ -f "$text" ] && cp "$text" "$to/$name.$(basename "$text" .txt).txt"
  done
done
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v "${SWIFT:-swift}")")")")
cp "$toolchain/share/swift/LICENSE.txt" "$to/swift.LICENSE.txt"
# What packages and runtime hold without a text of its own.
cp "$(dirname "$0")"/licenses/*.txt "$to/"
