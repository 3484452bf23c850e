"""Compares pictures that were undistorted and made smaller with OpenCV's.

shape.py PLAIN SHAPED CALIBRATION SIZE ALPHA

PLAIN, SHAPED: the output folders of one capture, without and with the shape. CALIBRATION: a JSON file
with the cameras. SIZE: `WIDTHxHEIGHT` of the shaped color. ALPHA: a number, or `none`.
Prints a line for each kind of picture; ends with 1 if one differs.
"""

import json
import os
import sys

import cv2
import numpy as np


def lens(calibration, camera):
    c = calibration["distortion"][camera]
    return np.array([c.get(k, 0.0) for k in ("k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6")])


def matrix(c):
    return np.array([[c["fx"], 0, c["cx"]], [0, c["fy"], c["cy"]], [0, 0, 1.0]])


def pictures(folder):
    return sorted(n for n in os.listdir(folder) if n.endswith(".png"))


def maps(k, d, alpha, size):
    new = k if alpha is None else cv2.getOptimalNewCameraMatrix(k, d, size, alpha)[0]
    return new, *cv2.initUndistortRectifyMap(k, d, None, new, size, cv2.CV_32FC1)


def main(plain, shaped, calibration, size, alpha):
    calibration = json.load(open(calibration))
    alpha = None if alpha == "none" else float(alpha)
    wide, high = (int(n) for n in size.split("x"))
    problems = []

    camera = calibration["colorIntrinsics"]
    full = (camera["width"], camera["height"])
    k, d = matrix(camera), lens(calibration, "color")
    new, u, v = maps(k, d, alpha, full)
    compared = worst = beyond = 0
    names = pictures(f"{plain}/color")
    if names != pictures(f"{shaped}/color") or not names:
        problems.append("color: other files")
    for name in names:
        source = cv2.imread(f"{plain}/color/{name}", cv2.IMREAD_COLOR)
        found = cv2.imread(f"{shaped}/color/{name}", cv2.IMREAD_COLOR)
        wanted = cv2.remap(source, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
        if (wide, high) != full:
            wanted = cv2.resize(wanted, (wide, high), interpolation=cv2.INTER_AREA)
        if found.shape != wanted.shape:
            problems.append(f"color/{name}: {found.shape} for {wanted.shape}")
            continue
        off = np.abs(found.astype(int) - wanted.astype(int))
        compared += off.size
        worst = max(worst, int(off.max()))
        beyond += int((off > 1).sum())
    print(f"color: {compared} values, largest difference {worst}, {beyond} above 1")
    if beyond:
        problems.append(f"color: {beyond} values differ by more than one level")

    # The table: intrinsics of the optimal camera, by the half-pixel rule.
    sx, sy = wide / full[0], high / full[1]
    wanted = [
        new[0, 0] * sx, new[1, 1] * sy, (new[0, 2] + 0.5) * sx - 0.5, (new[1, 2] + 0.5) * sy - 0.5]
    rows = [line.split(",") for line in open(f"{shaped}/tables/intrinsics.csv").read().split("\n")[1:-1]]
    if not rows:
        problems.append("intrinsics.csv: no rows")
    for row in rows:
        if row[1:3] != [str(wide), str(high)] or any(
            abs(float(a) - b) > 0.02 for a, b in zip(row[3:7], wanted)
        ):
            problems.append(f"intrinsics.csv: {row} for {wanted}")
            break
    aligned = json.load(open(f"{shaped}/aligned/artifact.json"))["parameters"]["outputIntrinsics"]
    stated = [aligned[n] for n in ("fx", "fy", "cx", "cy")]
    if any(abs(a - b) > 0.02 for a, b in zip(stated, wanted)):
        problems.append(f"aligned: {stated} for {wanted}")
    print(f"intrinsics: {len(rows)} rows and aligned agree with OpenCV's")

    camera = calibration["depthIntrinsics"]
    full = (camera["width"], camera["height"])
    k, d = matrix(camera), lens(calibration, "depth")
    _, u, v = maps(k, d, alpha, full)
    same = other = 0
    for name in pictures(f"{plain}/depth"):
        source = cv2.imread(f"{plain}/depth/{name}", cv2.IMREAD_UNCHANGED)
        found = cv2.imread(f"{shaped}/depth/{name}", cv2.IMREAD_UNCHANGED)
        wanted = cv2.remap(source, u, v, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT)
        # Halfway between two pixels either is the nearest.
        near = np.minimum(np.abs(u - np.floor(u) - 0.5), np.abs(v - np.floor(v) - 0.5)) < 0.01
        same += int((found == wanted).sum())
        other += int(((found != wanted) & ~near).sum())
    print(f"depth: {same} pixels equal, {other} not")
    if other or not same:
        problems.append(f"depth: {other} pixels are not the nearest")

    for problem in problems:
        print(f"wrong: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
