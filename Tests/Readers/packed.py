"""A data set of `scanmill pack`, opened by the library webdataset and compared with what was published.

    packed.py DATASET OUTPUT"""

import csv
import glob
import io
import json
import sys
from pathlib import Path

import numpy as np
import webdataset as wds
from PIL import Image


def table(path, frame):
    rows = [r for r in csv.DictReader(open(path)) if int(r["frame"]) == frame]
    return rows[0] if rows else None


def main(dataset, output):
    count = 0
    for url in sorted(glob.glob(str(dataset / "*.tar"))):
        for sample in wds.WebDataset(url, shardshuffle=False, empty_check=False):
            told = json.loads(sample["json"])
            capture = output / told["capture"]
            row = table(capture / "tables/frames.csv", told["frame"])
            names = {c for c in ("color", "depth", "confidence", "aligned") if row[c]}
            row["mask"] = f"masks/{told['frame']:06}.png"
            if (capture / row["mask"]).exists():
                names.add("mask")
            held = {k.split(".")[0] for k in sample if not k.startswith("__") and k != "json"}
            assert held == names, (sample["__key__"], held, names)
            assert told["timestamp_ns"] == int(row["timestamp_ns"])
            for name in names:
                key = next(k for k in sample if k.split(".")[0] == name)
                own = np.asarray(Image.open(io.BytesIO(sample[key])))
                published = np.asarray(Image.open(capture / row[name]))
                assert own.dtype == published.dtype and (own == published).all(), key
            for name, file in (("pose", "poses.csv"), ("intrinsics", "intrinsics.csv")):
                path = capture / "tables" / file
                found = table(path, told["frame"]) if path.exists() else None
                assert (found is None) == (name not in told), name
                for column, value in (told.get(name) or {}).items():
                    assert float(found[column]) == value, column
            count += 1
    print(f"{count} samples")


main(Path(sys.argv[1]), Path(sys.argv[2]))
