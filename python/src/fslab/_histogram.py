"""Decodes the latency histograms of an exported run.

They are in the encoding "V2" of HdrHistogram, in base64: a header of 40 bytes, then the counters
as zigzag LEB128, in which a negative number is a run of zeros. fslab writes one kind only: three
significant digits, values from 1 ns, normalizing offset 0. Anything else is refused.

Source: Gil Tene, HdrHistogram, http://hdrhistogram.org, EncodableHistogram.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator
from typing import NamedTuple

from ._program import FslabError

_COOKIE = 0x1C849303 | 0x10
_HEADER = struct.Struct(">IiIIQQd")
_DIGITS = 3
# 2048 counters distinguish 2 * 10^3 values; each further 1024 cover twice the range.
_HALF = 1024
_HALF_BITS = 10
# An hour, with which fslab's histograms end, and the counters to the power of two above it.
_HIGHEST_NS = 3_600_000_000_000
_COUNTERS = 33 * _HALF


class Bucket(NamedTuple):
    """Latencies that are equal within three significant digits."""

    lowest_ns: int
    """The smallest latency of the bucket, in nanoseconds."""
    highest_ns: int
    """The largest one, in nanoseconds. fslab's percentiles are such values."""
    operations: int
    """How many operations had such a latency."""


def decode_histogram(text: str) -> list[Bucket]:
    """The buckets of a histogram in which operations were counted, in ascending order.

    ``text`` is ``histogram`` of a phase's ``latencies`` in ``fslab export --format json``.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise FslabError(f"cannot decode a histogram: {error}") from error
    if len(data) < _HEADER.size:
        raise _refused("it is too short")
    cookie, length, offset, digits, lowest, highest, _ratio = _HEADER.unpack_from(data)
    if cookie != _COOKIE:
        raise _refused("it is not in the encoding V2 of HdrHistogram")
    if offset != 0:
        raise _refused(f"its normalizing offset is {offset}, not 0")
    if (digits, lowest) != (_DIGITS, 1) or highest > _HIGHEST_NS:
        raise _refused("it has other bounds than those of fslab")
    if length != len(data) - _HEADER.size:
        raise _refused("its length is another")
    buckets = []
    index = 0
    for number in _numbers(data[_HEADER.size :]):
        if number < 0:
            index -= number
            continue
        if number > 0:
            buckets.append(_bucket(index, number))
        index += 1
    return buckets


def _bucket(index: int, count: int) -> Bucket:
    # The first 2048 values are exact; from there, each half has twice the width of the last.
    if index >= _COUNTERS:
        raise _refused("it has too many counters")
    power = max((index >> _HALF_BITS) - 1, 0)
    lowest = (index - power * _HALF) << power
    return Bucket(lowest, lowest + (1 << power) - 1, count)


def _numbers(data: bytes) -> Iterator[int]:
    """Zigzag LEB128 numbers of at most nine bytes, of which the ninth has eight bits."""
    at = 0
    while at < len(data):
        number = 0
        for place in range(9):
            if at == len(data):
                raise _refused("a number is torn")
            byte = data[at]
            at += 1
            if place == 8:
                number |= byte << 56
            else:
                number |= (byte & 0x7F) << (7 * place)
                if byte < 0x80:
                    break
        yield (number >> 1) ^ -(number & 1)


def _refused(why: str) -> FslabError:
    return FslabError(f"cannot decode a histogram: {why}")
