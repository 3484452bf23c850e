#!/bin/sh
# stage.sh PROGRAM PREFIX [DESTDIR]: lays out below DESTDIR/PREFIX all that is installed. Needs no compiler.
# ZSH_COMPLETIONS: where below PREFIX/share/zsh the completions of zsh go; Debian's packages have a place of their own.
set -eu
program=$1
prefix=$2
to="${3:-}$prefix"
share="$to/share"
doc="$share/doc/scanmill"
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(.packaging/version.sh --date)}
export SOURCE_DATE_EPOCH

folder() { install -d -m 0755 "$1"; }
file() { install -m 0644 "$1" "$2"; }

folder "$to/bin"
install -m 0755 "$program" "$to/bin/scanmill"
# What `scanmill receive`, `send` and `synthesize` start lies beside the program, here and there.
for name in scanmill-receive scanmill-send scanmill-synthesize; do
  beside=$(dirname "$program")/$name
  if [ -x "$beside" ]; then install -m 0755 "$beside" "$to/bin/$name"; fi
done

# Manual pages: what was there before of verbs that are gone goes too.
folder "$share/man/man1"
rm -f "$share"/man/man1/scanmill.1* "$share"/man/man1/scanmill-*.1*
"$program" generate-manual "$share/man/man1" >/dev/null
chmod 0644 "$share"/man/man1/scanmill*.1
gzip -9nf "$share"/man/man1/scanmill*.1

complete() {
  folder "$(dirname "$2")"
  "$program" --generate-completion-script "$1" >"$2"
  chmod 0644 "$2"
}
complete bash "$share/bash-completion/completions/scanmill"
complete zsh "$share/zsh/${ZSH_COMPLETIONS:-site-functions}/_scanmill"
complete fish "$share/fish/vendor_completions.d/scanmill.fish"

# Units are only put in place: which folders they work on is for whoever starts them to say (docs/overnight.md).
folder "$to/lib/systemd/system"
for unit in docs/systemd/*.service docs/systemd/*.socket docs/systemd/*.timer; do
  sed "s,/usr/bin/scanmill,$prefix/bin/scanmill,g" "$unit" >"$to/lib/systemd/system/$(basename "$unit")"
  chmod 0644 "$to/lib/systemd/system/$(basename "$unit")"
done

# Documentation, with what it refers to.
rm -rf "$doc"
find docs pipelines -type f ! -name '*.sh' | while read -r name; do
  folder "$doc/$(dirname "$name")"
  file "$name" "$doc/$name"
done
folder "$doc/docs/notify"
install -m 0755 docs/notify/*.sh "$doc/docs/notify"
for name in README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md LICENSE Containerfile; do file "$name" "$doc/$name"; done
if [ -d .build/dist/licenses ]; then
  folder "$doc/licenses"
  for name in .build/dist/licenses/*; do file "$name" "$doc/licenses/$(basename "$name")"; done
fi

# The sample captures, without the truth that tests compare with.
rm -rf "$share/scanmill"
find sample-data -type f ! -path '*.truth/*' | while read -r name; do
  folder "$share/scanmill/$(dirname "$name")"
  file "$name" "$share/scanmill/$name"
done
