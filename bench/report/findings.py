# SPDX-License-Identifier: Apache-2.0
"""What the rows of a figure show, in words and against the targets. Everything is worked out from
the rows; nothing is known about them beforehand."""

import dataclasses
import math

import catalogue
from targets import TARGETS


@dataclasses.dataclass(frozen=True)
class point:
    y: float
    spread: float = 0
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


def rows_of(figure, kept):
    return [row for each in figure.runs if kept.get(each.name, {}).get("status") == "done"
            for row in kept[each.name]["report"]["rows"]]


def line_of(figure, row):
    for each in figure.lines:
        if row["name"] == each.row and all(row["params"].get(name) == value for name, value in each.params):
            return each
    return None


def points_of(figure, rows, line):
    """By x; of a figure without x, under None. Without the rows of a figure that are with updates."""
    out = {}
    for row in rows:
        if line_of(figure, row) is not line or not isinstance(row.get(figure.field), (int, float)):
            continue
        if figure.kind in ("race", "limit") and row["params"].get("updates", 0) != 0:
            continue
        x = row["params"].get(figure.x) if figure.x else None
        out[x] = point(row[figure.field], row.get("spread", 0) or 0, line.label)
    return out


def best(figure, rows, role):
    """Of each x the fastest line of a role."""
    out = {}
    for line in figure.lines:
        if line.role == role:
            for x, each in points_of(figure, rows, line).items():
                if x not in out or each.y > out[x].y:
                    out[x] = each
    return out


def verdict(ours, peer):
    """1: Coua is faster, -1: the peer is, 0: they are closer than their windows spread."""
    ratio = ours.y / peer.y
    slack = ours.spread + peer.spread
    return 0 if abs(math.log(ratio)) <= slack else 1 if ratio > 1 else -1


def segments(ours, peers):
    """Neighbours of one verdict: [(verdict, [x...])]."""
    out = []
    for x in sorted(set(ours) & set(peers), key=lambda it: (it is not None, it)):
        found = verdict(ours[x], peers[x])
        if out and out[-1][0] == found:
            out[-1][1].append(x)
        else:
            out.append((found, [x]))
    return out


def crossings(ours, peers):
    """Where the lines cross: between neighbours, as straight lines on a logarithmic scale."""
    xs = sorted(set(ours) & set(peers))
    logs = [math.log(ours[x].y / peers[x].y) for x in xs]
    out = []
    for (x1, y1), (x2, y2) in zip(zip(xs, logs), list(zip(xs, logs))[1:]):
        if y1 * y2 < 0 and x1 > 0:
            out.append(math.exp(math.log(x1) + y1 / (y1 - y2) * (math.log(x2) - math.log(x1))))
    return out


def round_count(value):
    digits = 10 ** math.floor(math.log10(value))
    return count(int(round(value / digits) * digits))


def where(figure, xs, all_xs):
    words = figure.x_words
    if len(xs) == 1:
        return f"at {count(xs[0])} {words[:-1] if xs[0] == 1 and words.endswith('s') else words}"
    if len(xs) == len(all_xs):
        return f"at every {figure.every or f'number of {words}'}"
    if xs[0] == all_xs[0]:
        return f"up to {count(xs[-1])} {words}"
    if xs[-1] == all_xs[-1]:
        return f"from {count(xs[0])} {words} on"
    return f"from {count(xs[0])} to {count(xs[-1])} {words}"


def names(points, xs):
    found = []
    for x in xs:
        if points[x].label not in found:
            found.append(points[x].label)
    return " or ".join(found)


def race(figure, rows):
    ours, peers = best(figure, rows, catalogue.OURS), best(figure, rows, catalogue.PEER)
    all_xs = sorted(set(ours) & set(peers), key=lambda it: (it is not None, it))
    if not all_xs:
        return alone(figure, ours, peers)
    parts = []
    several = sum(line.role == catalogue.PEER and bool(points_of(figure, rows, line)) for line in figure.lines) > 1
    for found, xs in segments(ours, peers):
        place = f" {where(figure, xs, all_xs)}" if figure.x else ""
        peer = names(peers, xs)
        if several:
            peer = f"the fastest of the others, {peer}{',' * bool(place)}" if found > 0 else peer
        ratios = {x: ours[x].y / peers[x].y for x in xs}
        if found > 0:
            part = f"Coua is faster than {peer}{place}: "
        elif found < 0:
            part = f"{peer} is faster than Coua{place}: Coua reaches "
        else:
            least, most = f"{min(ratios.values()):.2f}", f"{max(ratios.values()):.2f}"
            parts.append(f"Coua and {peer} are closer than their windows spread{place} (Coua has "
                         f"{least if least == most else f'{least} to {most}'} of the rate)")
            continue
        ends = xs if len(xs) < 3 else [xs[0], xs[-1]]
        extreme = max(xs, key=lambda x: abs(math.log(ratios[x])))
        if extreme not in ends:
            ends = sorted({*ends, extreme})
        say = (lambda x: f"{times(ratios[x])} times") if found > 0 else (lambda x: f"{ratios[x]:.2f} of its rate")
        shown = [say(x) + (f" at {count(x)}" if figure.x and len(xs) > 1 else "") for x in ends]
        text = ", ".join(shown)
        if not figure.x or len(all_xs) == 1:
            x = xs[0]
            text += f" ({figures_of(ours[x].y)} against {figures_of(peers[x].y)} {figure.unit})"
        parts.append(part + text)
    out = "; ".join(parts) + "."
    if figure.x:
        crossed = [round_count(x) for x in crossings(ours, peers)]
        if crossed:
            out += f" The lines cross near {' and '.join(crossed)} {figure.x_words}."
    return out + gaps(figure, rows) + base_words(figure, rows, ours) + cache_words(figure, rows)


def alone(figure, ours, peers):
    if ours and not peers:
        there = f"at {count(min(ours))} {figure.x_words} " if figure.x else ""
        first = ours[min(ours)] if figure.x else ours[None]
        return f"Nothing to compare with was measured; Coua does {figures_of(first.y)} {figure.unit} {there}".strip() + "."
    if peers:
        return f"There is no row of Coua, so nothing is shown of it; {names(peers, list(peers))} was measured."
    return "Nothing was measured."


def gaps(figure, rows):
    """Lines that end before others do."""
    found = [(line, points_of(figure, rows, line)) for line in figure.lines]
    xs = {x for _, points in found for x in points}
    out = ""
    for line, points in found:
        missing = sorted(x for x in xs - set(points) if x is not None)
        if points and missing:
            out += f" {line.label} has no row at {', '.join(count(x) for x in missing)} {figure.x_words}."
    return out


def base_words(figure, rows, ours):
    out = ""
    for line in figure.lines:
        base = points_of(figure, rows, line) if line.role == catalogue.BASE else {}
        both = sorted(set(base) & set(ours))
        if both:
            shown = [f"{times(ours[x].y / base[x].y)} times at {count(x)}" for x in dict.fromkeys((both[0], both[-1]))]
            out += f" Against {line.label} Coua does {', '.join(shown)} {figure.x_words}."
    return out


def cache_words(figure, rows):
    """Of the packets of Open vSwitch, how many its exact-match cache answers."""
    shares = {row["params"].get(figure.x): row["emc"] for row in rows if row["name"] == "ovs" and "emc" in row}
    if len(shares) < 2 or None in shares:
        return ""
    first, last = min(shares), max(shares)
    return (f" The exact-match cache of Open vSwitch answers {100 * shares[first]:.0f} % of its packets at "
            f"{count(first)} and {100 * shares[last]:.0f} % at {count(last)} {figure.x_words}.")


def limit(figure, rows):
    """Where others do less on the same ports."""
    ours = best(figure, rows, catalogue.OURS)
    parts = []
    for line in figure.lines:
        points = points_of(figure, rows, line) if line.role == catalogue.LIMIT else {}
        both = sorted(set(points) & set(ours))
        if both:
            shares = [f"{ours[x].y / points[x].y:.2f}" for x in both]
            last = f", {shares[-1]} at {count(both[-1])}" if len(both) > 1 else ""
            parts.append(f"{shares[0]} of the rate of {line.label} at {count(both[0])}{last} {figure.x_words}")
    return f"Coua reaches {'; '.join(parts)}." if parts else alone(figure, ours, {})


def updates(figure, rows):
    ratios = sorted((row["params"]["updates"], row["ratio_to_none"]) for row in rows
                    if row["name"] == "coua" and "ratio_to_none" in row)
    if not ratios:
        return "Nothing was measured."
    shown = ", ".join(f"{ratio:.2f} at {count(rate)} {figure.x_words}" for rate, ratio in ratios)
    return f"Coua keeps this share of its rate: {shown}."


def control(figure, rows):
    """At the highest rate, and the time of loading."""
    out = []
    for batch, how in ((1, "one by one"), (20, "in batches of 20")):
        found = {row["name"]: row for row in rows if row["params"].get("batch") == batch and "updates_per_s" in row}
        asked = [row["params"]["updates"] for row in rows if row["params"].get("batch") == batch]
        if not asked:
            continue
        top = {row["name"]: row for row in rows if row["params"] == {"updates": max(asked), "batch": batch}}
        shown = [f"{label} carries out {thousands(top[name]['updates_per_s'])} and keeps "
                 f"{top[name]['ratio_to_none']:.2f} of its packet rate"
                 for name, label in (("coua", "Coua"), ("ovs", catalogue.OVS)) if name in top and name in found]
        ratio = (f" ({times(top['coua']['updates_per_s'] / top['ovs']['updates_per_s'])} times)"
                 if {"coua", "ovs"} <= set(top) and top["coua"]["updates_per_s"] >= top["ovs"]["updates_per_s"] else "")
        out.append(f"Asked for {count(max(asked))} changes per second {how}, {', '.join(shown)}{ratio}.")
    seconds = loads(rows)
    shown = [f"into {label} in {figures_of(seconds[name, 'add-flows'])} s, as a bundle in "
             f"{figures_of(seconds[name, 'bundle'])} s" for name, label in (("coua", "Coua"), ("ovs", catalogue.OVS))
             if (name, "add-flows") in seconds and (name, "bundle") in seconds]
    if shown:
        out.append(f"ovs-ofctl loads the rules {'; '.join(shown)}.")
    return " ".join(out) or "Nothing was measured."


def loads(rows):
    return {(row["name"], row["params"]["way"]): row["seconds"] for row in rows if "way" in row["params"]}


def control_losses(rows):
    out = []
    done = {(row["name"], row["params"]["updates"], row["params"]["batch"]): row["updates_per_s"] for row in rows
            if "updates_per_s" in row}
    slower = sorted({rate for name, rate, batch in done
                     if name == "ovs" and done.get(("coua", rate, batch), math.inf) < 0.95 * done[name, rate, batch]})
    if slower:
        out.append(f"{catalogue.OVS} carries out more of {' and '.join(count(rate) for rate in slower)} changes per "
                   "second")
    seconds = loads(rows)
    ways = [way for way in ("add-flows", "bundle") if seconds.get(("ovs", way), math.inf) < seconds.get(("coua", way), 0)]
    if ways:
        ratios = " and ".join(f"{seconds['coua', way] / seconds['ovs', way]:.1f}" for way in ways)
        out.append(f"{catalogue.OVS} when ovs-ofctl loads the rules ({' and '.join(ways)}: Coua takes {ratios} times "
                   "as long)")
    return out


def stalls(figure, rows):
    gap = {row["name"]: row["gap_us"] for row in rows if "gap_us" in row}
    own = [gap.pop(name) for name in ("nothing", "another CPU busy") if name in gap]
    if not own or not gap:
        return "Nothing was measured."
    worst = max(gap, key=gap.get)
    return (f"The longest gap of any action is that of \"{worst}\", {figures_of(gap[worst])} us; the machine by "
            f"itself takes a worker away for {figures_of(min(own))} to {figures_of(max(own))} us.")


def sentence(figure, rows):
    return {"race": race, "limit": limit, "updates": updates, "control": control, "stalls": stalls}[figure.kind](figure, rows)


def losses(figure, rows):
    """Where a peer is faster: "rte_acl at 10 masks"."""
    if figure.kind == "control":
        return control_losses(rows)
    if figure.kind != "race":
        return []
    ours, peers = best(figure, rows, catalogue.OURS), best(figure, rows, catalogue.PEER)
    all_xs = sorted(set(ours) & set(peers), key=lambda it: (it is not None, it))
    return [f"{names(peers, xs)} {where(figure, xs, all_xs)}" if figure.x else names(peers, xs)
            for found, xs in segments(ours, peers) if found < 0]


@dataclasses.dataclass(frozen=True)
class judged:
    target: object
    ratio: float = None   # None: not measured
    why: str = ""         # it was not

    @property
    def met(self):
        return self.ratio is not None and self.ratio >= self.target.ratio


def judge(figures, kept):
    """Each target with what was measured of it."""
    by_name = {each.name: each for each in figures}
    out = []
    for target in TARGETS:
        figure = by_name.get(target.figure)
        if figure is None:
            out.append(judged(target, why="this figure is not in the report"))
            continue
        rows = rows_of(figure, kept)
        line = {each.role: points_of(figure, rows, each) for each in figure.lines
                if each.role == catalogue.OURS or each.label == target.peer}
        ours, peer = line.get(catalogue.OURS, {}).get(target.x), line.get(catalogue.PEER, {}).get(target.x)
        if ours and peer:
            out.append(judged(target, ours.y / peer.y))
            continue
        states = {kept.get(each.name, {}).get("status", "not run") for each in figure.runs}
        out.append(judged(target, why=(
            "not at this depth" if states == {"done"} else "not measured: see below" if "failed" in states
            else "left out: see below" if "skipped" in states else "not run yet")))
    return out
