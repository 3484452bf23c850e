"""What GPX, GeoJSON and KML are compared with: `tables/geo.csv`, and the knots of the capture's own log."""

import json
from datetime import datetime, timedelta, timezone

import room as shared


def rows(tables):
    """Frame to row of geo.csv."""
    return {int(r["frame"]): r for r in shared.rows(tables.capture / "tables/geo.csv")}


def number(text):
    return float(text) if text else None


def near(a, b, tolerance=1e-9):
    if a is None or b is None:
        return a is None and b is None
    return abs(a - b) <= tolerance


def same_longitude(a, b):
    off = abs(a - b) % 360
    return min(off, 360 - off) <= 1e-9


def expected_time(tables, frame):
    """Time of day of a frame by the rule of the specification; None: unknown."""
    document = json.loads((tables.capture / "capture.json").read_text())
    recorded = document.get("recordedAt")
    stamp = tables.frames[frame]["timestamp_ns"]
    if not recorded or "T" not in recorded or not stamp:
        return None
    try:
        start = datetime.fromisoformat(recorded.replace("Z", "+00:00"))
    except ValueError:
        return None
    if start.tzinfo is None:
        return None
    offset = int(stamp)
    if document["clock"]["base"] != "recording-start":
        first = next(r["timestamp_ns"] for r in tables.frames.values() if r["timestamp_ns"])
        offset -= int(first)
    return start.astimezone(timezone.utc) + timedelta(microseconds=offset / 1000)


def check_time(where, found, tables, frame, checker):
    expected = expected_time(tables, frame)
    if expected is None:
        checker.that(found is None, f"{where}: a time that is not known")
        return
    checker.that(found is not None, f"{where}: no time")
    off = abs((found - expected).total_seconds())
    checker.that(off <= 0.000501, f"{where}: the time is off by {off} s")


def check_frames(places, tables, checker):
    """`places`: per exported frame latitude, longitude, heading, accuracy, time (None: unknown)."""
    table = rows(tables)
    checker.that(len(places) == len(tables.exported), f"{len(places)} frames")
    for (latitude, longitude, heading, accuracy, time), frame in zip(places, tables.exported):
        where = f"frame {frame}"
        row = table[frame]
        checker.that(near(latitude, number(row["latitude_deg"])), f"{where}: latitude {latitude}")
        checker.that(
            same_longitude(longitude, number(row["longitude_deg"])), f"{where}: longitude {longitude}"
        )
        checker.that(near(heading, number(row["heading_deg"]), 1e-6), f"{where}: heading {heading}")
        checker.that(near(accuracy, number(row["accuracy_m"])), f"{where}: accuracy {accuracy}")
        check_time(where, time, tables, frame, checker)


def check_track(points, tables, checker):
    """Latitude and longitude of the track, between the frames' own places."""
    table = [r for r in rows(tables).values() if r["latitude_deg"]]
    checker.that(len(points) > 0, "an empty track")
    latitudes = [number(r["latitude_deg"]) for r in table]
    low, high = min(latitudes), max(latitudes)
    margin = max(0.001, high - low)
    for latitude, longitude in points:
        checker.that(abs(latitude) <= 90 and abs(longitude) <= 180, f"{latitude} {longitude}: no place")
        checker.that(low - margin <= latitude <= high + margin, f"latitude {latitude} is far off")
        off = min(
            min(abs(longitude - number(r["longitude_deg"])) % 360,
                360 - abs(longitude - number(r["longitude_deg"])) % 360) for r in table
        )
        checker.that(off < 0.01, f"longitude {longitude} is far off")
    # A frame whose place was measured or held stands at a point of the track.
    for r in table:
        if r["source"] != "interpolated":
            found = any(
                near(a, number(r["latitude_deg"])) and same_longitude(b, number(r["longitude_deg"]))
                for a, b in points
            )
            checker.that(found, f"the track does not go through the place of frame {r['frame']}")
    repeats = sum(a == b for a, b in zip(points, points[1:]))
    checker.that(repeats <= 2, f"{repeats} points repeat the one before")
