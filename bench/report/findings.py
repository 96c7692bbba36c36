# SPDX-License-Identifier: Apache-2.0
"""What the rows of a figure show, in words and against the targets. Everything is worked out from
the rows; nothing is known about them beforehand."""

import dataclasses
import math

import catalogue
from targets import TARGETS


# Rates that are this close are not told apart, however little their windows spread: the machine
# changes by as much between two runs. It stands for a spread that is not known, too.
FLOOR = 0.05
# The median deviation of three windows is on average two thirds of that of many.
FEW_WINDOWS = 1.5
# Axes that are drawn with even steps; the others are logarithmic.
LINEAR = ("misses", "updates")


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


def rows_of(figure, kept):
    return [row for each in figure.runs if kept.get(each.name, {}).get("status") == "done"
            for row in kept[each.name]["report"]["rows"]]


def line_of(figure, row):
    for each in figure.lines:
        if row["name"] == each.row and all(row["params"].get(name) == value for name, value in each.params):
            return each
    return None


def is_rate(value):
    return isinstance(value, (int, float)) and math.isfinite(value) and value > 0


def points_of(figure, rows, line):
    """By x; of a figure without x, under None. Without the rows of a figure that are with updates, and
    without those that are no rate above 0."""
    out = {}
    for row in rows:
        if line_of(figure, row) is not line or not is_rate(row.get(figure.field)):
            continue
        if figure.kind in ("race", "limit") and row["params"].get("updates", 0) != 0:
            continue
        x = row["params"].get(figure.x) if figure.x else None
        if figure.x and not isinstance(x, (int, float)):
            continue
        out[x] = point(row[figure.field], row.get("spread"), line.label)
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


def slack(*spreads):
    """How far apart the logarithms of two rates must be to tell them apart."""
    return FLOOR + sum(FLOOR if each is None else FEW_WINDOWS * each for each in spreads)


def verdict(ours, peer):
    """1: Coua is faster, -1: the peer is, 0: they are too close to tell."""
    apart = math.log(ours.y / peer.y)
    return 0 if abs(apart) <= slack(ours.spread, peer.spread) else 1 if apart > 0 else -1


def segments(ours, peers):
    """Neighbours of one verdict: [(verdict, [x...])]."""
    out = []
    for x in ordered(set(ours) & set(peers)):
        found = verdict(ours[x], peers[x])
        if out and out[-1][0] == found:
            out[-1][1].append(x)
        else:
            out.append((found, [x]))
    return out


def crossings(figure, ours, peers):
    """Where the lines cross, as they are drawn: straight between neighbours of which each has a winner
    of its own."""
    xs = sorted(set(ours) & set(peers))
    out = []
    for x1, x2 in zip(xs, xs[1:]):
        if verdict(ours[x1], peers[x1]) * verdict(ours[x2], peers[x2]) != -1:
            continue
        first, last = ours[x1].y - peers[x1].y, ours[x2].y - peers[x2].y
        share = first / (first - last)
        if figure.x in LINEAR:
            out.append(x1 + share * (x2 - x1))
        elif x1 > 0:
            out.append(x1 * (x2 / x1) ** share)
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


def duel(figure, ours, peers, all_xs, others=False):
    """Coua and one peer, or the fastest `others` at each x."""
    parts = []
    for found, xs in segments(ours, peers):
        place = f" {where(figure, xs, all_xs)}" if figure.x else ""
        peer = names(peers, xs)
        if others:
            peer = f"the fastest of the others, {peer}{',' * bool(place)}"
        ratios = {x: ours[x].y / peers[x].y for x in xs}
        if found > 0:
            part = f"Coua is faster than {peer}{place}: "
        elif found < 0:
            part = f"{peer} is faster than Coua{place}: Coua reaches "
        else:
            least, most = f"{min(ratios.values()):.2f}", f"{max(ratios.values()):.2f}"
            parts.append(f"Coua and {peer} are too close to tell{place} (Coua has "
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
    return parts


def ordered(xs):
    return sorted(xs, key=lambda it: (it is not None, it))


def opponents(figure, rows, ours):
    """The points of each peer that Coua has rows beside."""
    found = [points_of(figure, rows, line) for line in figure.lines if line.role == catalogue.PEER]
    return [each for each in found if set(each) & set(ours)]


def race(figure, rows):
    """Each peer that is somewhere as fast as Coua has words of its own; of the others the fastest."""
    ours = best(figure, rows, catalogue.OURS)
    found = opponents(figure, rows, ours)
    if not found:
        return alone(figure, ours, best(figure, rows, catalogue.PEER))
    all_xs = ordered({x for each in found for x in each} & set(ours))
    beaten, parts, crossed = {}, [], {}
    n_beaten = 0
    for peers in found:
        if all(who > 0 for who, _ in segments(ours, peers)):
            n_beaten += 1
            for x, each in peers.items():
                if x not in beaten or each.y > beaten[x].y:
                    beaten[x] = each
            continue
        parts += duel(figure, ours, peers, ordered(set(ours) & set(peers)))
        if figure.x:
            for x in crossings(figure, ours, peers):
                crossed.setdefault(names(peers, list(peers)), []).append(round_count(x))
    if beaten:
        parts += duel(figure, ours, beaten, all_xs, n_beaten > 1)
    out = "; ".join(parts) + "."
    for peer, xs in crossed.items():
        whose = "The lines" if len(found) == 1 else f"The lines of Coua and {peer}"
        out += f" {whose} cross near {' and '.join(xs)} {figure.x_words}."
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


HOW = ((1, "one by one"), (20, "in batches of 20"))
SWITCHES = (("coua", "Coua"), ("ovs", catalogue.OVS))
WAYS = ("add-flows", "bundle")


def compare(field, ours, peer):
    """Of two rows or numbers without a spread. None: one is not there."""
    values = [row.get(field) if isinstance(row, dict) else row for row in (ours, peer)]
    return verdict(point(values[0]), point(values[1])) if all(is_rate(each) for each in values) else None


def changes_of(rows, batch):
    """By rate, by the name of the switch."""
    out = {}
    for row in rows:
        if row["params"].get("batch") == batch and is_rate(row.get("updates_per_s")):
            out.setdefault(row["params"]["updates"], {})[row["name"]] = row
    return out


def control(figure, rows):
    """At the highest rate, and the time of loading."""
    out = []
    for batch, how in HOW:
        found = changes_of(rows, batch)
        if not found:
            continue
        asked = max(found)
        top = found[asked]
        shown = [f"{label} carries out {thousands(top[name]['updates_per_s'])} and keeps "
                 f"{top[name]['ratio_to_none']:.2f} of its packet rate" for name, label in SWITCHES if name in top]
        text = f"Asked for {count(asked)} changes per second {how}, {', '.join(shown)}"
        if {"coua", "ovs"} <= set(top):
            more = compare("updates_per_s", top["coua"], top["ovs"])
            ratio = top["coua"]["updates_per_s"] / top["ovs"]["updates_per_s"]
            kept = compare("ratio_to_none", top["coua"], top["ovs"])
            text += ": " + (f"{times(ratio)} times as many" if more == 1 else f"Coua {ratio:.2f} times as many"
                            if more == -1 else "numbers too close to tell")
            text += ", " + {1: "and Coua keeps more", -1: f"and {catalogue.OVS} keeps more"}.get(
                kept, "and shares too close to tell")
        out.append(text + ".")
    seconds = loads(rows)
    shown = [f"into {label} in {figures_of(seconds[name, 'add-flows'])} s, as a bundle in "
             f"{figures_of(seconds[name, 'bundle'])} s" for name, label in SWITCHES
             if (name, "add-flows") in seconds and (name, "bundle") in seconds]
    if shown:
        close = [way for way in WAYS if compare("", seconds.get(("coua", way)), seconds.get(("ovs", way))) == 0]
        out.append(f"ovs-ofctl loads the rules {'; '.join(shown)} (measured once"
                   f"{', too close to tell: ' + ' and '.join(close) if close else ''}).")
    return " ".join(out) or "Nothing was measured."


def loads(rows):
    return {(row["name"], row["params"]["way"]): row["seconds"] for row in rows
            if "way" in row["params"] and is_rate(row.get("seconds"))}


def control_losses(rows):
    out = []
    for field, words in (("updates_per_s", "carries out more"), ("ratio_to_none", "keeps more of its packet rate")):
        for batch, how in HOW:
            slower = [rate for rate, row in sorted(changes_of(rows, batch).items())
                      if compare(field, row.get("coua"), row.get("ovs")) == -1]
            if slower:
                out.append(f"{catalogue.OVS} {words}, asked for {' and '.join(count(rate) for rate in slower)} changes "
                           f"per second {how}")
    seconds = loads(rows)
    ways = [way for way in WAYS if compare("", seconds.get(("coua", way)), seconds.get(("ovs", way))) == 1]
    if ways:
        ratios = " and ".join(f"{seconds['coua', way] / seconds['ovs', way]:.1f}" for way in ways)
        out.append(f"{catalogue.OVS} when ovs-ofctl loads the rules ({' and '.join(ways)}: Coua takes {ratios} times "
                   "as long)")
    return out


ITSELF = ("nothing", "another CPU busy")


def stalls(figure, rows):
    gap = {row["name"]: row["gap_us"] for row in rows if "gap_us" in row}
    own = [gap.pop(name) for name in ITSELF if name in gap]
    if not own or not gap:
        return "Nothing was measured."
    worst = max(gap, key=gap.get)
    out = (f"The action with the most is \"{worst}\": {figures_of(gap[worst])} us, the median of the longest gaps of "
           f"its turns; the machine by itself takes a worker away for {figures_of(min(own))} to "
           f"{figures_of(max(own))} us.")
    longest = {row["name"]: row["longest_gap_us"] for row in rows if "longest_gap_us" in row}
    alone_longest = [longest.pop(name) for name in ITSELF if name in longest]
    if longest and alone_longest:
        most = max(longest, key=longest.get)
        out += (f" The longest gap of all its turns had \"{most}\", {figures_of(longest[most])} us, and the machine by "
                f"itself {figures_of(max(alone_longest))} us.")
    return out


def sentence(figure, rows):
    return {"race": race, "limit": limit, "updates": updates, "control": control, "stalls": stalls}[figure.kind](figure, rows)


def losses(figure, rows):
    """Where a peer is faster: "rte_acl at 10 masks"."""
    if figure.kind == "control":
        return control_losses(rows)
    if figure.kind != "race":
        return []
    ours = best(figure, rows, catalogue.OURS)
    out = []
    for peers in opponents(figure, rows, ours):
        all_xs = ordered(set(ours) & set(peers))
        out += [f"{names(peers, xs)} {where(figure, xs, all_xs)}" if figure.x else names(peers, xs)
                for found, xs in segments(ours, peers) if found < 0]
    return out


@dataclasses.dataclass(frozen=True)
class judged:
    target: object
    ratio: float = None   # None: not measured
    why: str = ""         # it was not
    close: bool = False   # to the target, as close as the spreads

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
            out.append(judged(target, why="not measured" if target.figure else "not measured yet"))
            continue
        rows = rows_of(figure, kept)
        line = {each.role: points_of(figure, rows, each) for each in figure.lines
                if each.role == catalogue.OURS or each.label == target.peer}
        ours, peer = line.get(catalogue.OURS, {}).get(target.x), line.get(catalogue.PEER, {}).get(target.x)
        if ours and peer:
            ratio = ours.y / peer.y
            out.append(judged(target, ratio, close=abs(math.log(ratio / target.ratio)) <= slack(ours.spread, peer.spread)))
            continue
        states = {kept.get(each.name, {}).get("status", "none") for each in figure.runs}
        out.append(judged(target, why=(
            "not at this depth" if states == {"done"} else "not measured: see below" if "failed" in states
            else "left out: see below" if "skipped" in states else "not measured")))
    return out
