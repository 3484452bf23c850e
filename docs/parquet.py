#!/usr/bin/env python3
"""parquet.py OUT SET: the tables of all captures of an output, a Parquet file for each kind of table.

A row has the id of its capture, and each capture is a row group, so that a reader skips those it does not ask for:
pd.read_parquet("SET/poses.parquet", filters=[("capture", "==", "lab-101-2026-02-09-11-33-00")]). Times are 64-bit
whole numbers; what is not known is null. Memory: the tables of one capture.

Needs `pip install pyarrow`.
"""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

TABLES = ["tables/frames", "tables/poses", "tables/intrinsics", "tables/camera_settings", "tables/geo", "imu/imu"]
TEXTS = {"color", "depth", "confidence", "aligned", "sensor_type", "source"}


def kind(column):
    """The same for all captures, also where a column is empty."""
    if column in TEXTS:
        return pa.string()
    return pa.int64() if column == "frame" or column.endswith("_ns") else pa.float64()


def head(file):
    with file.open() as lines:
        return lines.readline().strip().split(",")


def main(output, target):
    Path(target).mkdir(parents=True)
    for table in TABLES:
        files = sorted(Path(output).glob(f"*/{table}.csv"))
        # Some columns are there only where an app records them.
        columns = list(dict.fromkeys(column for file in files for column in head(file)))
        options = pa.csv.ConvertOptions(
            include_columns=columns, include_missing_columns=True, strings_can_be_null=True,
            column_types={column: kind(column) for column in columns})
        writer, rows = None, 0
        for file in files:
            read = pa.csv.read_csv(file, convert_options=options)
            captures = pa.array([file.parts[-3]] * len(read), pa.string())
            read = read.add_column(0, "capture", captures)
            writer = writer or pa.parquet.ParquetWriter(Path(target, Path(table).name + ".parquet"), read.schema)
            writer.write_table(read)
            rows += len(read)
        if writer:
            writer.close()
            print(f"{Path(table).name}.parquet: {rows} rows")


if __name__ == "__main__":
    main(*sys.argv[1:])
