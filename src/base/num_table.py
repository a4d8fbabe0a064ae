#!/usr/bin/env python3
"""Prints num_table.h: powers of ten as 128-bit binary fractions, cut off. Run: ./num_table.py > num_table.h"""
FIRST, LAST = -342, 324


def floor_log2(k):
    """floor(log2(10^k)), exactly."""
    return (10**k).bit_length() - 1 if k >= 0 else -((10**-k - 1).bit_length())


def significand(k):
    """floor(10^k * 2^(127 - floor_log2(k))): the top bit is set."""
    shift = 127 - floor_log2(k)
    if k >= 0:
        return 10**k << shift if shift >= 0 else 10**k >> -shift
    return (1 << shift) // 10**-k


for k in range(FIRST, LAST + 1):
    assert floor_log2(k) == (k * 217706) >> 16 and significand(k).bit_length() == 128

print("/* Written by num_table.py; do not edit. */")
print("#ifndef BASE_NUM_TABLE_H\n#define BASE_NUM_TABLE_H\n\n#include <stdint.h>\n")
print(f"enum {{ POW10_FIRST = {FIRST}, POW10_LAST = {LAST} }};\n")
print("/* 10^k is about (high * 2^64 + low) * 2^(floor(log2(10^k)) - 127), cut off; exact for k = 0..55. */")
print("static const struct { uint64_t high, low; } pow10_table[POW10_LAST - POW10_FIRST + 1] = {")
row = [f"{{{s >> 64:#018x}, {s & (2**64 - 1):#018x}}}" for s in map(significand, range(FIRST, LAST + 1))]
for i in range(0, len(row), 2):
    print("    " + ", ".join(row[i:i + 2]) + ",")
print("};\n\n#endif")
