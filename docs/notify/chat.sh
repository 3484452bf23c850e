#!/bin/sh
# Posts what the night made of the captures to a chat (Slack, Mattermost and others that take
# {"text": …}). Needs jq and curl.
# /etc/scanmill/chat.curl holds the address of the webhook, which is a secret itself:
#   url = "https://chat.example.org/hooks/secret"
set -eu
# Ids and reasons stand in code marks, so that no name in them calls anybody.
jq '{text: (
    (.totals | "\(.ready) of \(.captures) captures are ready"
      + (.needsPerson | if . > 0 then ", \(.) need you" else "" end))
    + ([.captures[]
        | select(.needsPerson)
        | "\n`\(.id | gsub("[`&<>]"; "-"))` `\(.reasons[0].text | gsub("[`&<>[:cntrl:]]+"; "-"))`"][:20] | join("")))}' |
  curl --silent --show-error --fail --max-time 50 --config /etc/scanmill/chat.curl --output /dev/null \
    --header 'Content-Type: application/json' --data-binary @-
