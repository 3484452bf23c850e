"""Small changes of files that deliberate mistakes are made of. The folder is a copy."""


def lines(path, change):
    """Replaces the lines of a text file by what `change` makes of the list of them."""
    if not path.exists():
        return False
    path.write_text("".join(line + "\n" for line in change(path.read_text().splitlines())))
    return None


def cells(path, change, separator=","):
    """Replaces the cells of each line that is no comment and begins with a number."""

    def changed(line):
        parts = line.split(separator)
        if not parts[0].lstrip("-").replace(".", "").isdigit():
            return line
        return separator.join(change(parts))

    return lines(path, lambda all_lines: [changed(line) for line in all_lines])


def scaled(parts, columns, factor):
    """Cells with some of them multiplied."""
    return [
        repr(float(part) * factor) if number in columns else part
        for number, part in enumerate(parts)
    ]


def shifted(paths):
    """Each file gets the content of the next one."""
    paths = sorted(paths)
    if len(paths) < 2:
        return False
    contents = [path.read_bytes() for path in paths]
    for path, content in zip(paths, contents[1:] + contents[:1]):
        path.unlink()
        path.write_bytes(content)
    return None
