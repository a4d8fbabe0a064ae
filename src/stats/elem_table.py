#!/usr/bin/env python3
"""Prints elem_table.h: the constants behind elem.c, computed with 60 digits. Run: ./elem_table.py > elem_table.h"""
from decimal import Decimal, getcontext
from fractions import Fraction
from math import floor

getcontext().prec = 60
LN2, LN10 = Decimal(2).ln(), Decimal(10).ln()


def near(x):
    return float(Fraction(x))  # exact value to nearest double


def split(x, grid_bits):
    """hi on a grid of 2^-grid_bits (so that sums and small products stay exact) and the rest."""
    hi = Decimal(floor(x * 2**grid_bits + Decimal("0.5"))) / 2**grid_bits
    return near(hi), near(x - hi)


def head(name, hi, lo):
    print(f"static const double {name}_hi = {hi.hex()}, {name}_lo = {lo.hex()};")


print("/* Written by elem_table.py; do not edit. */")
print("#ifndef STATS_ELEM_TABLE_H\n#define STATS_ELEM_TABLE_H\n")
head("ln2", *split(LN2, 42))
head("ln2_128th", *split(LN2 / 128, 44))
head("log10_2_128th", *split(LN2 / LN10 / 128, 44))
for name, x in (("inv_ln2", 1 / LN2), ("inv_ln10", 1 / LN10)):
    hi = near(x)
    head(name, hi, near(x - Decimal(hi)))
for name, x in (("ln2_full", LN2), ("ln10_full", LN10), ("times_128_by_ln2", 128 / LN2),
                ("times_128_by_log10_2", 128 * LN10 / LN2)):
    print(f"static const double {name} = {near(x).hex()};")

print("\n/* For m in [j / 128, (j + 1) / 128), j = 96..191: c near 1 / m with ten bits, and -ln(c). */")
print("static const struct { double c, hi, lo; } log_table[96] = {")
for j in range(96, 192):
    # Both neighbours of 1 use c = 1: near 1 the logarithm is then r itself, without cancellation.
    c = 1.0 if j in (127, 128) else round(512 * 128 / (j + 0.5)) / 512
    hi, lo = split(-Decimal(c).ln(), 42) if c != 1 else (0.0, 0.0)
    print(f"    {{{c!r}, {hi.hex()}, {lo.hex()}}},")
print("};\n\n/* 2^(j / 128) as a sum of two doubles. */")
print("static const struct { double hi, lo; } exp2_table[128] = {")
for j in range(128):
    x = (LN2 * j / 128).exp() if j else Decimal(1)
    hi = near(x)
    print(f"    {{{hi.hex()}, {near(x - Decimal(hi)).hex()}}},")
print("};\n\n#endif")
