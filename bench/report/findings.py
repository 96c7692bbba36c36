# SPDX-License-Identifier: Apache-2.0
"""What the rows of a figure show, in words and against the targets. Everything is worked out from
the rows; nothing is known about them beforehand."""

import dataclasses
import math

import catalogue
import control
import situations
from rates import count, figures_of, is_rate, point, slack, times, verdict
from targets import TARGETS


# Axes that are drawn with even steps; the others are logarithmic.
LINEAR = ("misses", "updates", "second", "attack")


def rows_of(figure, kept):
    return [row for each in figure.runs if kept.get(each.name, {}).get("status") == "done"
            for row in kept[each.name]["report"]["rows"]]


def line_of(figure, row):
    for each in figure.lines:
        if row["name"] == each.row and all(row["params"].get(name) == value for name, value in each.params):
            return each
    return None


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
    if figure.kind in situations.SENTENCES:
        return situations.SENTENCES[figure.kind](rows)
    return {"race": race, "limit": limit, "updates": updates, "control": lambda _, found: control.sentence(found), "stalls": stalls}[figure.kind](figure, rows)


def losses(figure, rows):
    """Where a peer is faster: "rte_acl at 10 masks"."""
    if figure.kind == "control":
        return control.losses(rows)
    if figure.kind in situations.LOSSES:
        return situations.LOSSES[figure.kind](rows)
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
        if self.ratio is None:
            return False
        return self.ratio <= self.target.ratio if self.target.at_most else self.ratio >= self.target.ratio


def field_of(figure, rows, target):
    """The row of Coua that says itself how it stands. None: it is not there."""
    for row in rows:
        if (row["name"] == "coua" and is_rate(row.get(target.field))
                and (target.x is None or row["params"].get(figure.x) == target.x)):
            return row
    return None


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
        if target.field:
            row = field_of(figure, rows, target)
            if row is not None:
                ratio = row[target.field]
                out.append(judged(target, ratio, close=abs(math.log(ratio / target.ratio)) <= slack(row.get("spread"))))
                continue
        ours, peer = line.get(catalogue.OURS, {}).get(target.x), line.get(catalogue.PEER, {}).get(target.x)
        if ours and peer and not target.field:
            ratio = ours.y / peer.y
            out.append(judged(target, ratio, close=abs(math.log(ratio / target.ratio)) <= slack(ours.spread, peer.spread)))
            continue
        states = {kept.get(each.name, {}).get("status", "none") for each in figure.runs}
        out.append(judged(target, why=(
            "not at this depth" if states == {"done"} else "not measured: see below" if "failed" in states
            else "left out: see below" if "skipped" in states else "not measured")))
    return out
