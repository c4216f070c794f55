"""The part of a long list that a test tries."""
import os


def part_of(entries):
    """Every N-th of the entries, beginning with the K-th, if $ASSAY_PART is K/N; otherwise all entries. part.h does the same."""
    number, parts = map(int, os.environ.get("ASSAY_PART", "1/1").split("/"))
    if not 1 <= number <= parts:
        raise ValueError("ASSAY_PART must be K/N with 1 <= K <= N")
    return list(entries)[number - 1::parts]
