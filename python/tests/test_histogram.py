"""Histograms: what fslab wrote is read, anything else is refused."""

from __future__ import annotations

import base64
import json
import struct

import pytest
from conftest import STORES

import fslab

HEADER = ">IiIIQQd"
USUAL = (0x1C849313, 0, 3, 1, 3_600_000_000_000, 1.0)


def encoded(counters: bytes, **changed: object) -> str:
    names = ("cookie", "offset", "digits", "lowest", "highest", "ratio")
    of = {**dict(zip(names, USUAL)), **changed}
    length = of.pop("length", len(counters))
    cookie = of.pop("cookie")
    return base64.b64encode(struct.pack(HEADER, cookie, length, *of.values()) + counters).decode()


def number(value: int) -> bytes:
    """Zigzag LEB128 of at most nine bytes."""
    left = (value << 1) ^ (value >> 63)
    parts = []
    while len(parts) < 8 and left >= 0x80:
        parts.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*parts, left])


def test_the_histograms_of_an_exported_run_are_decoded():
    run = json.loads((STORES / "v8.json").read_text())
    phase = run["trials"][0]["phases"][0]
    found = {
        latency["operation"]: fslab.decode_histogram(latency["histogram"])
        for latency in phase["latencies"]
    }
    assert found["write"] == [(900, 900, 1), (1000, 1000, 1), (4_997_120, 5_001_215, 1)]
    assert found["fsync"] == [(7, 7, 1), (8, 8, 1), (9, 9, 1)]


def test_buckets_are_exact_below_2048_ns_and_then_double_in_width():
    counters = number(-5) + number(7) + number(-2042) + number(1) + number(-1023) + number(2)
    found = fslab.decode_histogram(encoded(counters))
    assert found == [(5, 5, 7), (2048, 2049, 1), (4096, 4099, 2)]


def test_the_largest_count_and_the_last_bucket_are_read():
    counters = number(1 - 33 * 1024) + number(2**63 - 1)
    [bucket] = fslab.decode_histogram(encoded(counters))
    assert bucket.highest_ns == 2**42 - 1
    assert bucket.operations == 2**63 - 1
    assert fslab.decode_histogram(encoded(b"\0")) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no base64!", "base64"),
        ("", "too short"),
        (encoded(b"\2", cookie=0x1C849301), "encoding V2"),
        (encoded(b"\2", offset=1), "normalizing offset is 1, not 0"),
        (encoded(b"\2", digits=2), "other bounds"),
        (encoded(b"\2", highest=2**63), "other bounds"),
        (encoded(b"\2", length=7), "length"),
        (encoded(b"\x80"), "torn"),
        (encoded(number(-(2**62)) + number(1)), "too many counters"),
    ],
)
def test_anything_else_is_refused(text, why):
    with pytest.raises(fslab.FslabError, match="(?i)" + why):
        fslab.decode_histogram(text)
