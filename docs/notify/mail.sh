#!/bin/sh
# Mails what the night made of the captures. Needs jq and curl.
# /etc/scanmill/mail.curl holds the server and, where it asks for one, the password:
#   url = "smtps://mail.example.org"
#   user = "scanmill:secret"
set -eu
from=scanmill@example.org
to=lab@example.org
report=$(cat)
ask() { printf '%s' "$report" | jq -r "$1"; }
title=$(ask '.totals | "\(.ready) of \(.captures) captures are ready"
  + (.needsPerson | if . > 0 then ", \(.) need you" else "" end)')
{
  printf 'From: %s\nTo: %s\nSubject: scanmill: %s\n' "$from" "$to" "$title"
  printf 'Date: %s\nMIME-Version: 1.0\nContent-Transfer-Encoding: 8bit\n' "$(LC_ALL=C date -R)"
  printf 'Content-Type: text/plain; charset=utf-8\n\n%s\n\n' "$title"
  ask '.captures[] | select(.needsPerson)
    | "\(.id): \(.state)", (.reasons[] | "  " + .text),
      ([.reasons[].remedy // empty] | unique[] | "  " + .)
    | gsub("[[:cntrl:]]+"; " ")'
  printf '\n%s\n' "${SCANMILL_PAGE:-}"
} | curl --silent --show-error --fail --max-time 50 --config /etc/scanmill/mail.curl \
  --crlf --mail-from "$from" --mail-rcpt "$to" --upload-file -
