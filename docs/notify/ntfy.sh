#!/bin/sh
# Sends what the night made of the captures to phones, through ntfy. Needs jq and curl.
# /etc/scanmill/ntfy.curl holds the address and the token:
#   url = "https://ntfy.example.org/scans"
#   header = "Authorization: Bearer tk_secret"
set -eu
report=$(cat)
ask() { printf '%s' "$report" | jq -r "$1"; }
needed=$(ask '.totals.needPerson')
title=$(ask '.totals | "\(.done + .doneWithWarnings) of \(.captures) captures are ready"')
priority=default
[ "$needed" -eq 0 ] || { title="$title, $needed need you"; priority=high; }
ask '[.captures[] | select(((.state | IN("failed", "quarantined", "incomplete", "stalled-upload")) or .shortfalls
      or ((.missing | length > 0) and (.state | startswith("done")))) and (.mark // {ended: "no"}).ended)
    | "\(.id): \(.state)"][:20] | join("\n") | if . == "" then "Nothing to do." else . end' |
  curl --silent --show-error --fail --max-time 50 --config /etc/scanmill/ntfy.curl --output /dev/null \
    --header "Title: scanmill: $title" --header "Priority: $priority" --data-binary @-
