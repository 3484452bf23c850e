#!/bin/sh
# deb.sh PROGRAM TO: makes TO/scanmill_<version>_<arch>.deb and prints its path. The same program and commit give the
# same bytes.
set -eu
program=$(readlink -f "$1")
mkdir -p "$2"
to=$(readlink -f "$2")
cd "$(dirname "$0")/.."
version=$(.packaging/version.sh)
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=$(.packaging/version.sh --date)
export SOURCE_DATE_EPOCH
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 0755 "$work"
root="$work/scanmill_${version}_$architecture"

ZSH_COMPLETIONS=vendor-completions .packaging/stage.sh "$program" /usr "$root"
cat >"$root/usr/share/doc/scanmill/copyright" <<END
scanmill is licensed under the Apache License, Version 2.0, which is in
/usr/share/common-licenses/Apache-2.0.

The licenses of all that is part of the program's file or loaded by it, and
what follows from them, are told in docs/licenses.md beside this file; the
texts are in licenses/.
END
# procps: the units reload with its kill. libsqlite3-0 and libxml2 are loaded by name, like the libraries that depends.sh finds.
depends=$(.packaging/depends.sh "$program")
bytes=$(find "$root" -type f -printf '%s\n' | awk '{ n += int(($1 + 1023) / 1024) } END { print n }')
mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: scanmill
Version: $version
Architecture: $architecture
Maintainer: The scanmill developers <scanmill@example.invalid>
Installed-Size: $bytes
Depends: $depends, procps, libsqlite3-0, libxml2
Recommends: tzdata
Suggests: ffmpeg
Section: science
Priority: optional
Description: post-processing of captures made by iOS scanner and logger apps
 Reads ScanNet, ARKit-Scanner, MultiScan, VI-SLAM, Strabo, Stray Scanner,
 3D Scanner App and Record3D captures; writes color, depth, aligned depth, IMU matches and tables, and the
 layouts of other tools. Processes folders of captures in one run, or uploads as
 they arrive.
END
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$root" "$to" >/dev/null
echo "$to/scanmill_${version}_$architecture.deb"
