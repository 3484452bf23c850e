#!/usr/bin/env python3
"""blocks.py PAGE: runs the blocks of Python of a page of Markdown, one after the other, in one program.

A block that imports what is not installed is skipped, and said so. Status 1: one of the others failed.
"""

import importlib.util
import pathlib
import re
import sys
import traceback


def main(page):
    text = pathlib.Path(page).read_text()
    namespace, ran, skipped, failed = {"__name__": "__main__"}, 0, 0, 0
    for match in re.finditer(r"^```python\n(.*?)^```", text, re.S | re.M):
        line = text.count("\n", 0, match.start()) + 2
        modules = re.findall(r"^(?:import|from) ([\w]+)", match[1], re.M)
        absent = [name for name in modules if importlib.util.find_spec(name) is None]
        if absent:
            print(f"skipped: the block at line {line} needs {', '.join(absent)}")
            skipped += 1
            continue
        try:
            # With its own line numbers, so that a failure names a line of the page.
            exec(compile("\n" * (line - 1) + match[1], page, "exec"), namespace)
            ran += 1
        except Exception:
            traceback.print_exc()
            failed += 1
    print(f"{ran} blocks ran, {skipped} skipped, {failed} failed")
    return 1 if failed or not ran + skipped else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
