"""Opens exports of a capture with foreign loaders, compares them, and makes every deliberate mistake once.

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
    parser.add_argument("capture", help="the capture's output folder")
    parser.add_argument("formats", nargs="+")
    parser.add_argument("--truth", help="the truth of a synthetic capture")
    parser.add_argument("--no-mistakes", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("error")
    for quiet in (DeprecationWarning, PendingDeprecationWarning, ImportWarning):
        warnings.simplefilter("ignore", quiet)
    room = shared.Room(arguments.truth) if arguments.truth else None
    wrong = [format for format in arguments.formats if not check(format, arguments, room)]
    return 1 if wrong else 0


def check(format, arguments, room):
    """Whether an export is right and every mistake in it is noticed."""
    capture = arguments.capture
    folder = Path(capture) / f"export-{format}"
    module = importlib.import_module("read_" + format)
    try:
        count = compare(module, folder, capture, room)
    except Exception as error:  # whatever a loader throws is a failure of the export
        print(f"{format}: FAILED: {type(error).__name__}: {error}")
        return False
    print(f"{format}: {count} comparisons")
    if arguments.no_mistakes:
        return True
    missed = 0
    for name, make in module.MISTAKES.items():
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place) / folder.name
            shutil.copytree(folder, copy)
            if make(copy) is False:
                print(f"{format}: {name}: not possible here")
                continue
            try:
                compare(module, copy, capture, room)
            except Exception as error:
                text = str(error).splitlines()[0][:100] if str(error) else ""
                print(f"{format}: {name}: caught: {type(error).__name__}: {text}")
            else:
                print(f"{format}: {name}: NOT NOTICED")
                missed += 1
    return missed == 0


if __name__ == "__main__":
    sys.exit(main())
