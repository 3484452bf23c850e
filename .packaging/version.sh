#!/bin/sh
# Prints the version of the program, as `scanmill --version` has it on its first line; with --date the time of the
# commit in seconds since 1970: what dates everything that is packaged, so that the same commit gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
--date)
  # In an archive of the sources every file bears the time of its commit.
  git log -1 --format=%ct 2>/dev/null || stat -c %Y LICENSE
  ;;
*) sed -nE 's/^ *static let text = "([^"]+)"$/\1/p' Sources/scanmill/Version.swift ;;
esac
