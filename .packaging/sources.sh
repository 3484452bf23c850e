#!/bin/sh
# sources.sh TO: makes TO/scanmill-<version>.tar.gz, the sources of the commit that is checked out, and
# TO/scanmill-<version>-notes.md, the newest section of CHANGELOG.md; prints both paths.
set -eu
mkdir -p "$1"
to=$(readlink -f "$1")
cd "$(dirname "$0")/.."
name=scanmill-$(.packaging/version.sh)
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
  echo "note: what has changed since the commit is not in it" >&2
fi
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$to/$name.tar.gz"
awk '/^## / { sections++ } sections == 1' CHANGELOG.md >"$to/$name-notes.md"
if ! [ -s "$to/$name-notes.md" ]; then
  echo "error: CHANGELOG.md has no section" >&2
  exit 1
fi
echo "$to/$name.tar.gz"
echo "$to/$name-notes.md"
