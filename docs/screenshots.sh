#!/bin/sh
# Makes the pictures of the pages in docs/ from sample-data: phone and desktop, night and capture.
# Needs a release build (make build), chromium, chromium-driver and python3-selenium.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
program=.build/release/scanmill
mkdir "$folder/staging"
cp -a sample-data/. "$folder/staging"
rm -rf "$folder"/staging/*.truth "$folder/staging/README.md"
# A night has its troubles: one upload that lacks its video, one whose depth stream is none.
"$program" synthesize scannet --output "$folder/staging" --frames 20 --width 324 --height 242 \
  --id 2026-11-23_08-40-02__kitchen >/dev/null
rm "$folder/staging/2026-11-23_08-40-02__kitchen/2026-11-23_08-40-02__kitchen.h264"
"$program" synthesize scannet --output "$folder/staging" --frames 20 --width 324 --height 242 \
  --id 2026-11-23_09-12-47__hall >/dev/null
head -c 4000 /dev/urandom > "$folder/staging/2026-11-23_09-12-47__hall/2026-11-23_09-12-47__hall.depth"
rm -rf "$folder"/staging/*.truth
"$program" watch "$folder/staging" --output "$folder/results" --once --settle 1s --progress none \
  >/dev/null 2>&1 || true
capture=$(ls "$folder/results" | grep '^20260618' | head -1)
/usr/bin/python3 Tests/Browser/check_pages.py --shots "$folder/shots" "$folder/results/index.html" \
  "$folder/results/$capture/report.html" || true
for size in phone:390 desktop:1280; do
  cp "$folder"/shots/*index-"${size#*:}"-light.png "docs/night-${size%:*}.png"
  cp "$folder"/shots/*report-"${size#*:}"-light.png "docs/capture-${size%:*}.png"
done
