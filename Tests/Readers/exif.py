"""EXIF of exported JPEG files, read by Pillow and compared with the tables; then every deliberate mistake once.

    exif.py EXPORT PLAIN CAPTURE PLACE

PLAIN is the same export without EXIF: without the tags the files are the same. PLACE: 1 if there are to be positions."""

import csv
import io
import json
import math
import sys
from datetime import datetime, timedelta
from pathlib import Path

from PIL import Image

EXIF, GPS = 0x8769, 0x8825


def rows(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return {int(r["frame"]): r for r in csv.DictReader(lines)}


def segment(data):
    """Place and end of the segment of EXIF."""
    place = 2
    while data[place] == 0xFF and 0xE0 <= data[place + 1] <= 0xEF:
        end = place + 2 + int.from_bytes(data[place + 2 : place + 4], "big")
        if data[place + 1] == 0xE1 and data[place + 4 :].startswith(b"Exif\0"):
            return place, end
        place = end
    raise ValueError("no EXIF")


def degrees(value, letter):
    d, m, s = (float(x) for x in value)
    return (d + m / 60 + s / 3600) * (-1 if letter in "SW" else 1)


def check(data, plain, frame, time, tables, start, has_place):
    begin, end = segment(data)
    if data[:begin] + data[end:] != plain:
        raise ValueError("something else than EXIF was changed")
    tags = Image.open(io.BytesIO(data)).getexif()
    own, gps = tags.get_ifd(EXIF), tags.get_ifd(GPS)
    if tags[0x0112] != 1:
        raise ValueError("pictures are upright")
    count = 0
    camera = tables["intrinsics"].get(frame)
    if camera:
        fx, fy, width, height = (float(camera[k]) for k in ("fx", "fy", "width", "height"))
        film = (fx + fy) / 2 * math.hypot(36, 24) / math.hypot(width, height)
        if abs(own[0xA405] - film) > 0.5 + 1e-9 or (own[0xA002], own[0xA003]) != (width, height):
            raise ValueError(f"focal length {own[0xA405]}, not {film}")
        count += 1
    elif 0xA405 in own:
        raise ValueError("a focal length that is not known")
    if start is not None and time is not None:
        told = datetime.strptime(f"{own[0x9003]}.{own[0x9291]}{own[0x9011]}", "%Y:%m:%d %H:%M:%S.%f%z")
        expected = start + timedelta(microseconds=time / 1000)
        if abs(told - expected) > timedelta(microseconds=501):
            raise ValueError(f"{told}, not {expected}")
        count += 1
    elif 0x9003 in own:
        raise ValueError("a time that is not known")
    place = tables["geo"].get(frame)
    if has_place and place and place["latitude_deg"]:
        found = degrees(gps[2], gps[1]), degrees(gps[4], gps[3])
        expected = float(place["latitude_deg"]), float(place["longitude_deg"])
        if max(abs(a - b) for a, b in zip(found, expected)) > 1e-9:
            raise ValueError(f"{found}, not {expected}")
        for tag, column, turn in (0x11, "heading_deg", 360), (0x1F, "accuracy_m", math.inf):
            if (tag in gps) != (place[column] != ""):
                raise ValueError(f"{column}: told or not, unlike the table")
            if tag in gps:
                off = abs(float(gps[tag]) - float(place[column])) % turn
                if min(off, turn - off) > 0.005 + 1e-9:
                    raise ValueError(f"{float(gps[tag])}, not {place[column]}")
        if 0x11 in gps and gps[0x10] != "T":
            raise ValueError("not from true north")
        if 0x9003 in own:
            hour, minute, second = (float(x) for x in gps[7])
            told = f"{gps[0x1D]} {hour:02.0f}:{minute:02.0f}:{second:06.3f}"
            if told != f"{own[0x9003]}.{own[0x9291]}":
                raise ValueError(f"the time of the position is {told}")
        elif 7 in gps or 0x1D in gps:
            raise ValueError("a time that is not known")
        count += 1
    elif gps:
        raise ValueError("a position that was not asked for or is not known")
    return count


def retagged(data, change):
    """The file with other tags; `None` where it has none to change."""
    tags = Image.open(io.BytesIO(data)).getexif()
    if change(tags.get_ifd(EXIF), tags.get_ifd(GPS)) is False:
        return None
    begin, end = segment(data)
    body = tags.tobytes()
    return data[:begin] + b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body + data[end:]


def having(tag, change):
    return lambda own, gps: False if tag not in (own if tag > 0x1F else gps) else change(own, gps)


MISTAKES = {
    "focal length in pixels": having(0xA405, lambda own, gps: own.update({0xA405: 9 * own[0xA405]})),
    "sides exchanged": having(0xA002, lambda own, gps: own.update({0xA002: own[0xA003], 0xA003: own[0xA002]})),
    "local time": having(0x9003, lambda own, gps: own.update({0x9011: "+02:00"})),
    "another fraction of the second": having(0x9291, lambda own, gps: own.update({0x9291: "999"})),
    "south for north": having(1, lambda own, gps: gps.update({1: "S" if gps[1] == "N" else "N"})),
    "longitude for latitude": having(2, lambda own, gps: gps.update({2: gps[4], 4: gps[2]})),
    "the opposite direction": having(0x11, lambda own, gps: gps.update({0x11: (float(gps[0x11]) + 180) % 360})),
    "magnetic north": having(0x11, lambda own, gps: gps.update({0x10: "M"})),
    "a diameter for a radius": having(0x1F, lambda own, gps: gps.update({0x1F: 2 * float(gps[0x1F])})),
    "another day": having(0x1D, lambda own, gps: gps.update({0x1D: "2012:08:08"})),
    "a second off": having(2, lambda own, gps: gps.update({2: (gps[2][0], gps[2][1], float(gps[2][2]) + 1)})),
}


def main(export, plain, capture, has_place):
    document = json.loads((capture / "capture.json").read_text())
    frames = rows(capture / "tables/frames.csv")
    start = None
    if document["recordedAt"] and "T" in document["recordedAt"]:
        start = datetime.fromisoformat(document["recordedAt"])
        if start.tzinfo is None:
            start = None
        elif document["clock"]["base"] != "recording-start":
            first = next(int(r["timestamp_ns"]) for r in frames.values() if r["timestamp_ns"])
            start -= timedelta(microseconds=first / 1000)
    tables = {name: rows(capture / f"tables/{name}.csv") for name in ("intrinsics", "geo")}
    count, noticed = 0, set()
    for frame, row in rows(export / "frames.csv").items():
        time = int(row["timestamp_ns"]) if row["timestamp_ns"] else None
        other = (plain / row["name"]).read_bytes()
        data = (export / row["name"]).read_bytes()
        arguments = other, frame, time, tables, start, has_place
        count += check(data, *arguments)
        for name, change in MISTAKES.items():
            wrong = retagged(data, change)
            if wrong is None:
                continue
            try:
                check(wrong, *arguments)
            except ValueError:
                noticed.add(name)
            else:
                print(f"{name}: NOT NOTICED")
                return 1
    print(f"{count} comparisons; noticed: {', '.join(sorted(noticed))}")
    return 0 if count else 1


sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4] == "1"))
