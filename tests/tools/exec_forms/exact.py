# SPDX-License-Identifier: Apache-2.0
"""Exact arithmetic on small float formats, for tests whose results no GPU at hand can record."""
import random
from fractions import Fraction

# exponent bits, mantissa bits, codes at the top that are no numbers (of one sign)
FORMATS = {"e2m1": (2, 1, 0), "e2m3": (2, 3, 0), "e3m2": (3, 2, 0), "e4m3": (4, 3, 1),
           "e5m2": (5, 2, 4), "f16": (5, 10, 1024), "bf16": (8, 7, 128), "f32": (8, 23, 1 << 23)}


def decode(fmt, code):
    e_bits, m_bits, _ = FORMATS[fmt]
    bias = (1 << (e_bits - 1)) - 1
    mantissa = code & ((1 << m_bits) - 1)
    exponent = (code >> m_bits) & ((1 << e_bits) - 1)
    sign = -1 if code >> (e_bits + m_bits) & 1 else 1
    if exponent == 0:
        return sign * Fraction(mantissa, 1 << m_bits) * Fraction(2) ** (1 - bias)
    return sign * (1 + Fraction(mantissa, 1 << m_bits)) * Fraction(2) ** (exponent - bias)


def encode(fmt, value, mode="rn", negative_zero=False):
    """The code nearest to value (ties to even), or nearest toward zero, down, up; saturates."""
    e_bits, m_bits, specials = FORMATS[fmt]
    top = (1 << (e_bits + m_bits)) - 1 - specials
    magnitude = abs(value)
    low, high = 0, top
    while low < high:
        middle = (low + high + 1) // 2
        if decode(fmt, middle) <= magnitude:
            low = middle
        else:
            high = middle - 1
    below, negative = low, value < 0 or (value == 0 and negative_zero)
    rest = magnitude - decode(fmt, below)
    if rest and below < top:
        gap = decode(fmt, below + 1) - decode(fmt, below)
        up = {"rz": False, "rm": negative, "rp": not negative,
              "rn": rest * 2 > gap or (rest * 2 == gap and below & 1)}[mode]
        below += 1 if up else 0
    return below | (negative << (e_bits + m_bits))


def pick(fmt, limit, seed):
    """A generator of random codes whose magnitude is at most limit, or zero at times."""
    source = random.Random(seed)
    e_bits, m_bits, specials = FORMATS[fmt]
    codes = [c for c in range(1 << (e_bits + m_bits + 1))
             if c & ((1 << (e_bits + m_bits)) - 1) < (1 << (e_bits + m_bits)) - specials
             and abs(decode(fmt, c)) <= limit
             and decode(fmt, c) * 8 == int(decode(fmt, c) * 8)]
    while True:
        yield source.choice(codes)


def f32(value):
    code = encode("f32", value)
    if decode("f32", code) != value:
        raise SystemExit(f"{value} is no f32")
    return code
