"""Depth undistortion tables by the page that describes them, written apart from the program.

lut.py make TABLE              writes a table of 40 x 30 cells, 12 slices, 6 m, some cells unknown
lut.py check PLAIN CORRECTED TABLE
                               compares CORRECTED/*.png with PLAIN/*.png corrected by the table

Ends with 1 if a pixel differs by more than one millimeter.
"""

import os
import struct
import sys

import cv2
import numpy as np


def make(path):
    x, y, z = np.meshgrid(np.arange(40), np.arange(30), np.arange(12), indexing="ij")
    off = ((x - 19) ** 2 + (y - 15) ** 2) / 600
    values = 1 + 0.03 * off * (z + 1) / 12 - 0.004 * z
    values = values.transpose(2, 1, 0).astype("<f4")
    values[:, 3, 5] = -321
    values[4, 20, 30] = np.nan
    with open(path, "wb") as file:
        file.write(struct.pack("<iiif", 40, 30, 12, 6.0))
        file.write(values.tobytes())
    return 0


def corrected(depth, path):
    data = open(path, "rb").read()
    nx, ny, nz, far = struct.unpack_from("<iiif", data)
    table = np.frombuffer(data, "<f4", offset=16).reshape(nz, ny, nx).astype(np.float64)
    with np.errstate(invalid="ignore"):
        bad = ~((table >= 0.5) & (table <= 2))
    table = np.where(bad, 0, table)
    height, width = depth.shape
    column = np.minimum(np.arange(width) / (width // nx), nx - 1)[None, :]
    row = np.minimum(np.arange(height) / (height // ny), ny - 1)[:, None]
    slice_ = np.minimum(depth / 1000 * nz / far, nz - 1)
    total = np.zeros(depth.shape)
    lost = np.zeros(depth.shape, bool)
    # The eight corners; at the upper border the neighbor is the cell itself.
    for cz in (0, 1):
        for cy in (0, 1):
            for cx in (0, 1):
                weight = 1
                index = []
                for place, corner, count in ((slice_, cz, nz), (row, cy, ny), (column, cx, nx)):
                    low = np.floor(place).astype(int)
                    share = place - low
                    index.append(np.minimum(low + corner, count - 1))
                    weight = weight * (share if corner else 1 - share)
                index = np.broadcast_arrays(*index)
                total += weight * table[tuple(index)]
                lost |= (weight > 0) & bad[tuple(index)]
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.floor(depth / total + 0.5)
    result[(depth == 0) | lost] = 0
    # Where a weight is next to nothing, rounding decides whether the cell counts.
    sure = np.minimum(slice_ % 1, 1 - slice_ % 1) > 1e-4
    return result, sure


def check(plain, found, path):
    names = sorted(n for n in os.listdir(plain) if n.endswith(".png"))
    compared = changed = lost = wrong = 0
    for name in names:
        depth = cv2.imread(f"{plain}/{name}", cv2.IMREAD_UNCHANGED).astype(np.float64)
        after = cv2.imread(f"{found}/{name}", cv2.IMREAD_UNCHANGED).astype(np.float64)
        wanted, sure = corrected(depth, path)
        wrong += int(((np.abs(after - wanted) > 1) & sure).sum())
        compared += int((depth > 0).sum())
        changed += int((after != depth).sum())
        lost += int(((depth > 0) & (after == 0)).sum())
    print(f"{len(names)} pictures, {compared} measured, {changed} changed, {lost} lost, {wrong} wrong")
    return 0 if names and not wrong and changed > compared / 2 and 0 < lost < compared / 4 else 1


if __name__ == "__main__":
    sys.exit({"make": make, "check": check}[sys.argv[1]](*sys.argv[2:]))
