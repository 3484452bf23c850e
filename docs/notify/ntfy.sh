#!/bin/sh
# Sends what the night made of the captures to phones, through ntfy. Needs jq and curl.
# /etc/scanmill/ntfy.curl holds the address and the token:
#   url = "https://ntfy.example.org/scans"
#   header = "Authorization: Bearer tk_secret"
set -eu
report=$(cat)
ask() { printf '%s' "$report" | jq -r "$1"; }
needed=$(ask '.totals.needsPerson')
title=$(ask '.totals | "\(.ready) of \(.captures) captures are ready"')
priority=default
[ "$needed" -eq 0 ] || { title="$title, $needed need you"; priority=high; }
ask '[.captures[] | select(.needsPerson)
    | "\(.id): \(.reasons[0].text)" | gsub("[[:cntrl:]]+"; " ")][:20] | join("\n") | if . == "" then "Nothing to do." else . end' |
  curl --silent --show-error --fail --max-time 50 --config /etc/scanmill/ntfy.curl --output /dev/null \
    --header "Title: scanmill: $title" --header "Priority: $priority" --data-binary @-
