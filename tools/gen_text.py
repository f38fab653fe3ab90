#!/usr/bin/env python3
"""A text file as bytes of C, cut in two: gen_text.py FILE MARK BEGIN END

BEGIN and END get what stands before and behind the line that has MARK, as numbers with commas between them.
"""
import sys


def write(path, data):
    with open(path, "w", encoding="ascii") as f:
        for i in range(0, len(data), 24):
            f.write(",".join(str(byte) for byte in data[i:i + 24]) + ",\n")


def main():
    source, mark, begin, end = sys.argv[1:]
    with open(source, "rb") as f:
        lines = f.readlines()
    places = [i for i, line in enumerate(lines) if mark.encode() in line]
    if len(places) != 1:
        sys.exit(f"{source}: {len(places)} lines have {mark}, and one must")
    write(begin, b"".join(lines[:places[0]]))
    write(end, b"".join(lines[places[0] + 1:]))


if __name__ == "__main__":
    main()
