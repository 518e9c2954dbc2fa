"""The small Parquet files of the tests of `sql`, as pyarrow writes them.

    python tools/scripts/parquet_examples.py --output data/records/tests/parquet

Needs pyarrow. `kinds.parquet` has a column of each type that is read, in two row groups with a dictionary and Zstandard;
`orders.parquet` is a table as people have them, with Snappy.
"""

import argparse
import datetime as dt
import decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    moment = dt.datetime(2024, 2, 29, 12, 34, 56, 789000)
    digits = decimal.Decimal("12345678901234567890.12")
    columns = {
        "Whole": pa.array([1, -(2**63), None], pa.int64()),
        "small": pa.array([255, 0, None], pa.uint8()),
        "fraction": pa.array([0.1, -2.5, None], pa.float32()),
        "price": pa.array([decimal.Decimal("12.50"), decimal.Decimal("-0.05"), None], pa.decimal128(9, 2)),
        "exact": pa.array([digits, -digits, None], pa.decimal128(30, 2)),
        "count": pa.array([decimal.Decimal(7), decimal.Decimal(-7), None], pa.decimal128(5, 0)),
        "text": pa.array(["ü, \"x\"", "", None]),
        "flag": pa.array([True, False, None]),
        "day": pa.array([dt.date(2024, 2, 29), dt.date(1969, 12, 31), None]),
        "at": pa.array([moment, dt.datetime(1970, 1, 1), None], pa.timestamp("us")),
        "at ns": pa.array([moment, dt.datetime(1970, 1, 1), None], pa.timestamp("ns")),
        "time": pa.array([dt.time(1, 2, 3), dt.time(0, 0), None], pa.time64("us")),
        "bytes": pa.array([b"\x00\xff", b"", None]),
        "list": pa.array([[1, 2, None], [], None], pa.list_(pa.int32())),
        "nested": pa.array([{"a": 1, "b": "x"}, {"a": None, "b": None}, None]),
        "map": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int32())),
        "kind": pa.array(["a", "a", "b"]).dictionary_encode(),
        "whole": pa.array([3, 2, 1], pa.int16()),
    }
    pq.write_table(pa.table(columns), output / "kinds.parquet", compression="zstd", row_group_size=2)
    orders = pa.table({
        "order_id": pa.array(range(2001, 2009), pa.int64()),
        "customer": ["Ann", "Bo", "Ann", "Cy", "Bo", "Dee", "Cy", "Ann"],
        "amount": [120.5, 35.0, 60.25, 500.0, 12.0, 75.5, 8.25, 240.0],
        "order_date": [dt.date(2024, month, 5) for month in range(1, 9)],
    })
    pq.write_table(orders, output / "orders.parquet")


if __name__ == "__main__":
    main()
