#!/bin/sh
# unstage.sh PREFIX [DESTDIR]: removes what stage.sh has put there, and nothing else.
set -eu
to="${2:-}$1"
share="$to/share"
rm -f "$to/bin/scanmill" "$to/bin/scanmill-receive" "$to/bin/scanmill-send" "$to/bin/scanmill-synthesize" "$share"/man/man1/scanmill.1* "$share"/man/man1/scanmill-*.1* \
  "$share/bash-completion/completions/scanmill" "$share"/zsh/*/_scanmill \
  "$share/fish/vendor_completions.d/scanmill.fish" "$to"/lib/systemd/system/scanmill-*.service \
  "$to"/lib/systemd/system/scanmill-*.socket "$to"/lib/systemd/system/scanmill-*.timer
rm -rf "$share/doc/scanmill" "$share/scanmill"
