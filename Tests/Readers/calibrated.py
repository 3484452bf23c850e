"""Opens a calibrated .sens file and compares it with OpenCV and with aligned depth.

calibrated.py SENS COLOR ALIGNED CALIBRATION

COLOR: folder of the pictures before undistortion. ALIGNED: folder of depth on the color camera's grid of the
depth picture's size, from undistorted color. CALIBRATION: JSON with the cameras. Ends with 1 if they differ.
"""

import json
import os
import struct
import sys
import zlib

import cv2
import numpy as np


def matrix(camera):
    return np.array([[camera["fx"], 0, camera["cx"]], [0, camera["fy"], camera["cy"]], [0, 0, 1.0]])


def main(path, color, aligned, calibration):
    data = open(path, "rb").read()
    calibration = json.load(open(calibration))
    problems = []
    (length,) = struct.unpack_from("<Q", data, 4)
    name = data[12:12 + length].decode()
    at = 12 + length
    k, _, kd, between = (
        np.frombuffer(data, "<f4", 16, at + 64 * i).reshape(4, 4) for i in range(4))
    at += 256
    wide, high, dwide, dhigh = struct.unpack_from("<IIII", data, at + 8)
    (frames,) = struct.unpack_from("<Q", data, at + 28)
    at += 36
    if not name.endswith(" (calibrated)"):
        problems.append(f"the sensor is '{name}'")
    if not np.array_equal(between, np.eye(4)):
        problems.append("the extrinsics of depth are not the identity")
    sx, sy = dwide / wide, dhigh / high
    wanted = [k[0, 0] * sx, k[1, 1] * sy, (k[0, 2] + 0.5) * sx - 0.5, (k[1, 2] + 0.5) * sy - 0.5]
    found = [kd[0, 0], kd[1, 1], kd[0, 2], kd[1, 2]]
    if np.abs(np.subtract(wanted, found)).max() > 1e-3:
        problems.append(f"intrinsics of depth {found} for {wanted}")
    camera = calibration["colorIntrinsics"]
    lens = calibration["distortion"]["color"]
    lens = np.array([lens.get(n, 0.0) for n in ("k1", "k2", "p1", "p2", "k3")])
    own = matrix(camera)
    if np.abs(own - k[:3, :3]).max() > 1e-3:
        problems.append("the intrinsics of color are not those of the calibration")
    u, v = cv2.initUndistortRectifyMap(own, lens, None, own, (wide, high), cv2.CV_32FC1)
    # What color shows at each pixel of depth.
    i, j = np.meshgrid(np.arange(dwide), np.arange(dhigh))
    rays = np.stack([(i - kd[0, 2]) / kd[0, 0], (j - kd[1, 2]) / kd[1, 1], np.ones(i.shape)], -1)
    spots, _ = cv2.projectPoints(rays.reshape(-1, 1, 3).astype(np.float64), np.zeros(3), np.zeros(3), own, lens)
    spots = spots.reshape(dhigh, dwide, 2)
    inside = ((spots > -0.5) & (spots < [wide - 0.5, high - 0.5])).all(-1)
    unsure = (np.abs(spots + 0.5) < 0.01).any(-1) | (np.abs(spots - [wide - 0.5, high - 0.5]) < 0.01).any(-1)
    names = sorted(n for n in os.listdir(aligned) if n.endswith(".png"))
    hidden = measured = 0
    for index in range(frames):
        size, deep = struct.unpack_from("<QQ", data, at + 80)
        picture = data[at + 96:at + 96 + size]
        depth = np.frombuffer(zlib.decompress(data[at + 96 + size:at + 96 + size + deep]), "<u2")
        depth = depth.reshape(dhigh, dwide)
        at += 96 + size + deep
        picture = cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR)
        plain = cv2.imread(f"{color}/{names[index]}", cv2.IMREAD_COLOR)
        straight = cv2.remap(plain, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
        off = np.abs(picture.astype(int) - straight.astype(int))
        if off.max() > 1:
            problems.append(f"frame {index}: color differs by {off.max()}")
        known = cv2.imread(f"{aligned}/{names[index]}", cv2.IMREAD_UNCHANGED)
        if known.shape != depth.shape:
            problems.append(f"frame {index}: depth of {depth.shape} for {known.shape}")
            continue
        if ((depth != np.where(inside, known, 0)) & ~unsure).any():
            problems.append(f"frame {index}: depth differs")
        hidden += int(((known > 0) & ~inside).sum())
        measured += int((depth > 0).sum())
    print(f"{name}: {frames} frames, {measured} measured, {hidden} hidden because color shows nothing")
    if not frames or not measured:
        problems.append("nothing measured")
    for problem in problems:
        print(f"wrong: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
