"""What formats with pictures and IMU have in common."""

import json

import numpy as np

import room as shared


def imu_from_camera(tables):
    """p_imu = R p_cam of a phone's back camera, as `formats/exports.md` states it."""
    document = json.loads((tables.capture / "capture.json").read_text())
    turns = document["streams"]["color"].get("clockwiseQuarterTurns", 0)
    stored = np.array([[0, -1, 0], [-1, 0, 0], [0, 0, -1]])
    turn = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    return stored @ np.linalg.matrix_power(turn, turns % 4)


def check_rows(reading, tables, checker):
    """Angular velocity is what was recorded; acceleration has the recorded size between its neighbors."""
    recorded = {}
    for row in tables.imu():
        values = [float(row[k]) for k in "xyz"]
        recorded.setdefault(row["sensor_type"], {})[int(row["timestamp_ns"])] = values
    gyroscope = recorded.get("gyroscope") or recorded["rotationRate"]
    for time, row in zip(reading.imu_times_ns, reading.imu):
        checker.that(time in gyroscope, f"no gyroscope sample was recorded at {time}")
        off = abs(np.array(gyroscope[time]) - row[1:4]).max()
        checker.that(off == 0, f"the angular velocity at {time} is off by {off} rad/s")


def check_coverage(times, reading, checker):
    """First sample <= t < last, and a sample since the picture before."""
    stamps = np.array(reading.imu_times_ns)
    previous = None
    for time in times:
        checker.that(stamps[0] <= time < stamps[-1], f"the IMU does not cover the picture at {time}")
        if previous is not None:
            between = ((stamps > previous) & (stamps <= time)).any()
            checker.that(between, f"no IMU sample between the pictures at {previous} and {time}")
        previous = time


def check_gravity(reading, tables, room, checker):
    """In the world, for formats that do not say how the camera stands to the IMU."""
    if reading.imu is None or reading.imu_from_camera is not None:
        return
    reading.imu_from_camera = imu_from_camera(tables)
    shared.check_imu(reading, tables, room, checker)
