"""Opens an export with a foreign loader, compares it, and makes every deliberate mistake once.

Prints one line per format and one per mistake; ends with 1 when anything is wrong or a mistake goes unnoticed.
"""

import argparse
import importlib
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import room as shared


def compare(module, folder, capture, room):
    tables = shared.Tables(capture, folder)
    checker = shared.Checker()
    reading = module.read(Path(folder))
    shared.check(reading, tables, room, checker)
    more = getattr(module, "check_more", None)
    if more is not None:
        more(reading, Path(folder), tables, room, checker)
    return checker.count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("format")
    parser.add_argument("folder")
    parser.add_argument("--capture", required=True, help="the capture's output folder")
    parser.add_argument("--truth", help="the truth of a synthetic capture")
    parser.add_argument("--no-mistakes", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    for quiet in (DeprecationWarning, PendingDeprecationWarning, ImportWarning):
        warnings.simplefilter("ignore", quiet)
    module = importlib.import_module("read_" + arguments.format)
    room = shared.Room(arguments.truth) if arguments.truth else None
    try:
        count = compare(module, arguments.folder, arguments.capture, room)
    except Exception as error:  # whatever a loader throws is a failure of the export
        print(f"{arguments.format}: FAILED: {type(error).__name__}: {error}")
        return 1
    print(f"{arguments.format}: {count} comparisons")
    if arguments.no_mistakes:
        return 0
    missed = 0
    for name, make in module.MISTAKES.items():
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place) / Path(arguments.folder).name
            shutil.copytree(arguments.folder, copy)
            if make(copy) is False:
                print(f"{arguments.format}: {name}: not possible here")
                continue
            try:
                compare(module, copy, arguments.capture, room)
            except Exception as error:
                text = str(error).splitlines()[0][:100] if str(error) else ""
                print(f"{arguments.format}: {name}: caught: {type(error).__name__}: {text}")
            else:
                print(f"{arguments.format}: {name}: NOT NOTICED")
                missed += 1
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
