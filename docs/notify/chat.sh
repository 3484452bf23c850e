#!/bin/sh
# Posts what the night made of the captures to a chat (Slack, Mattermost and others that take
# {"text": …}). Needs jq and curl.
# /etc/scanmill/chat.curl holds the address of the webhook, which is a secret itself:
#   url = "https://chat.example.org/hooks/secret"
set -eu
# Ids stand in code marks, so that no name in them calls anybody.
jq '{text: (
    (.totals | "\(.done + .doneWithWarnings) of \(.captures) captures are ready"
      + (.needPerson | if . > 0 then ", \(.) need you" else "" end))
    + ([.captures[]
        | select(((.state | IN("failed", "quarantined", "incomplete", "stalled-upload")) or .shortfalls
      or ((.missing | length > 0) and (.state | startswith("done")))) and (.mark // {ended: "no"}).ended)
        | "\n`\(.id | gsub("[`&<>]"; "-"))` \(.state)"][:20] | join("")))}' |
  curl --silent --show-error --fail --max-time 50 --config /etc/scanmill/chat.curl --output /dev/null \
    --header 'Content-Type: application/json' --data-binary @-
