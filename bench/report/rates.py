# SPDX-License-Identifier: Apache-2.0
"""Rates: which of two is the higher one, and how they are written."""

import dataclasses
import math

# Rates that are this close are not told apart, however little their windows spread: the machine
# changes by as much between two runs. It stands for a spread that is not known, too.
FLOOR = 0.05
# The median deviation of three windows is on average two thirds of that of many.
FEW_WINDOWS = 1.5


@dataclasses.dataclass(frozen=True)
class point:
    y: float
    spread: float = None  # not known
    label: str = ""


def count(number):
    """1K, 250K, 1M: as the command line takes them."""
    if isinstance(number, float) and not number.is_integer():
        return f"{number:.3g}"
    for factor, letter in ((1_000_000, "M"), (1000, "K")):
        if number >= factor and number * 10 % factor == 0:
            return f"{number / factor:g}{letter}"
    return f"{number:g}"


def times(ratio):
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}"


def figures_of(value):
    """Two or three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 99.5 else f"{value:.3g}"


def thousands(value):
    return f"{value / 1000:.3g}K" if value >= 1000 else figures_of(value)


def is_rate(value):
    return isinstance(value, (int, float)) and math.isfinite(value) and value > 0


def slack(*spreads):
    """How far apart the logarithms of two rates must be to tell them apart."""
    return FLOOR + sum(FLOOR if each is None else FEW_WINDOWS * each for each in spreads)


def verdict(ours, peer):
    """1: Coua is faster, -1: the peer is, 0: they are too close to tell."""
    apart = math.log(ours.y / peer.y)
    return 0 if abs(apart) <= slack(ours.spread, peer.spread) else 1 if apart > 0 else -1
