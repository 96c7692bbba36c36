# SPDX-License-Identifier: Apache-2.0
"""What the rows show of a switch in a situation of its own: flows that nobody knows, an attack, and
how long a packet takes."""

import catalogue
from rates import figures_of, is_rate, point, times, verdict

NAMES = {"coua": "Coua", "ovs": catalogue.OVS}
SLOW = "coua/at-rate-of-ovs"
LIFTED = "ovs/lifted"
LABELS = {**NAMES, SLOW: "Coua at the rate of Open vSwitch", LIFTED: "Open vSwitch (limit of flows lifted)"}


def by_name(rows, **params):
    """The rows of Coua and Open vSwitch with these parameters."""
    return {row["name"]: row for row in rows
            if row["name"] in (*NAMES, SLOW, LIFTED) and all(row["params"].get(name) == value for name, value in params.items())}


def compare(field, ours, peer):
    """None: one is not there."""
    values = [row.get(field) for row in (ours, peer)]
    return verdict(*(point(each, row.get("spread")) for each, row in zip(values, (ours, peer)))) if all(
        is_rate(each) for each in values) else None


def ratio_of(field, rows, name, peer):
    """None: one of the two is not there, or is 0."""
    values = [rows.get(each, {}).get(field) for each in (name, peer)]
    return values[0] / values[1] if all(is_rate(each) for each in values) else None


def figure(row, field):
    value = row.get(field)
    return figures_of(value) if isinstance(value, (int, float)) else "not measured"


# Cold start.

def seconds_of(rows):
    return sorted({row["params"]["second"] for row in rows if is_rate(row["params"].get("second"))})


def packets_of(row):
    packets = row.get("packets")
    if not isinstance(packets, (int, float)):
        return "was not measured"
    return f"forwards {figures_of(packets / 1e6)} million packets" if packets > 0 else "forwards nothing"


def cold_start(rows):
    ends = seconds_of(rows)
    if not ends:
        return "Nothing was measured."
    last, first = by_name(rows, second=ends[-1]), by_name(rows, second=ends[0])
    shown = [f"{NAMES[name]} {packets_of(last[name])}" for name in NAMES if name in last]
    out = f"In the first {figures_of(ends[-1])} s {' and '.join(shown)}"
    ratio, lifted = (ratio_of("packets", last, "coua", peer) for peer in ("ovs", LIFTED))
    if ratio is not None:
        out += f": {times(ratio)} times as many"
    if lifted is not None:
        than = "" if ratio is not None else f" {catalogue.OVS}"
        out += (f"{', and' if ratio is not None else ':'} {times(lifted) if lifted >= 1 else f'{lifted:.2f}'} times as "
                f"many as{than} with its limit of flows lifted")
    elif LIFTED in last:
        out += f"; {catalogue.OVS} with its limit of flows lifted {packets_of(last[LIFTED])}"
    out += "."
    timed = [name for name in NAMES if all(isinstance(part.get(name, {}).get("mops"), (int, float)) for part in (first, last))]
    if timed:
        shown = [f"{NAMES[name]} does {figure(first[name], 'mops')}" for name in timed]
        ending = [f"{NAMES[name]} {figure(last[name], 'mops')}" for name in timed]
        out += (f" In the first window {' and '.join(shown)} million packets per second, in the last one "
                f"{' and '.join(ending)}.")
    missed = sum(row.get("misses", 0) for row in rows if row["name"] == "ovs")
    return out + (f" {missed:,.0f} packets went through the slow path of {catalogue.OVS}." if missed else "")


def lost_cold_start(rows):
    out = []
    for peer, words in (("ovs", ""), (LIFTED, ", its limit of flows lifted,")):
        slower = [end for end in seconds_of(rows)
                  if compare("mops", *(by_name(rows, second=end).get(name, {}) for name in ("coua", peer))) == -1]
        if slower:
            out.append(f"{catalogue.OVS}{words} in {len(slower)} of the {len(seconds_of(rows))} windows")
    return out


# Attack.

def kept_of(row, peace):
    """What an attack leaves of a switch."""
    if not isinstance(row.get("rest_mops"), (int, float)):
        return "was not measured"
    rest = figure(row, "rest_mops")
    if not is_rate(peace.get("rest_mops")):
        return f"forwards {rest} million packets per second of the rest (without an attack it was not measured)"
    rest = f"({rest} of {figure(peace, 'rest_mops')} million packets per second)"
    share = row.get("ratio_to_peace")
    return f"keeps {share:.2f} of the rate of the rest {rest}" if is_rate(share) else f"forwards nothing of the rest {rest}"


def attack(rows):
    asked = sorted({row["params"].get("attack", 0) for row in rows} - {0})
    if not asked:
        return "Nothing was measured."
    found, peace = by_name(rows, attack=asked[-1]), by_name(rows, attack=0)
    shown = [f"{label} {kept_of(found[name], peace.get(name, {}))}" for name, label in NAMES.items() if name in found]
    if not shown:
        return "Nothing was measured."
    out = f"With {figures_of(asked[-1])} % of the packets at the masks that cost most, {', '.join(shown)}"
    ratio = ratio_of("rest_mops", found, "coua", "ovs")
    if ratio is not None:
        out += f"; under attack Coua forwards {times(ratio)} times as many packets of the rest"
    return out + "."


def lost_attack(rows):
    out = []
    for percent in sorted({row["params"].get("attack", 0) for row in rows}):
        both = [by_name(rows, attack=percent).get(name, {}) for name in NAMES]
        if compare("rest_mops", *both) == -1:
            out.append(f"{catalogue.OVS} with {figures_of(percent)} % of attack" if percent else
                       f"{catalogue.OVS} without an attack")
        if compare("ratio_to_peace", *both) == -1 and percent:
            out.append(f"{catalogue.OVS} keeps more of its own rate with {figures_of(percent)} % of attack")
    return out


# Latency.

TIMES = (("mean_us", "mean"), ("p99_us", "p99"), ("p999_us", "p99.9"))


MOST_LOST = 1e-3


def times_of(row):
    return f"(p99 {figure(row, 'p99_us')}, p99.9 {figure(row, 'p999_us')})"


def caveats(found):
    """What keeps the times from being what they seem: the peak was not the switch's, or packets were lost."""
    out = ""
    sources = [NAMES[name] for name in NAMES if found.get(name, {}).get("peak_of") == "source"]
    if sources:
        out += (f" The peak of {' and '.join(sources)} is that of the thread that sends, as its ring was hardly ever full.")
    for name, row in found.items():
        if is_rate(row.get("lost")) and row["lost"] > MOST_LOST:
            out += f" {LABELS[name]} loses {figures_of(100 * row['lost'])} % of its packets: the times are of the others."
        if is_rate(row.get("empty_windows")):
            windows = row["empty_windows"]
            out += f" No packet of {LABELS[name]} came back in {windows} window{'s' * (windows != 1)}: those packets count as lost."
    return out


def rate_of(row):
    return (f"{figure(row, 'offered_mops')} million packets per second" if is_rate(row.get("offered_mops"))
            else "a rate that is not known")


def latency(rows):
    found = {name: row for name, row in by_name(rows).items() if is_rate(row.get("mean_us"))}
    shown = [f"{figure(found[name], 'mean_us')} us in {label} at {rate_of(found[name])} {times_of(found[name])}"
             for name, label in NAMES.items() if name in found]
    if not shown:
        return "Nothing was measured."
    out = f"At half of its peak rate a packet takes {' and '.join(shown)}"
    ratio = ratio_of("mean_us", found, "coua", "ovs")
    if ratio is not None:
        out += f": the mean of Coua is {ratio:.2f} of the other"
    out += "."
    inside = [f"{figure(found[name], 'datapath_us')} us in {label}" for name, label in NAMES.items()
              if name in found and isinstance(found[name].get("datapath_us"), (int, float))]
    if inside:
        out += f" Without what raw I/O takes at the same rates, which the rings do, it is {' and '.join(inside)}"
        ratio = found.get("coua", {}).get("datapath_ratio_to_ovs")
        out += f": {ratio:.2f} of the other." if isinstance(ratio, (int, float)) else "."
    for name in by_name(rows):
        if name in NAMES and name not in found:
            out += f" The time of a packet in {NAMES[name]} was not measured."
    if SLOW in found:
        out += f" At the rate of {catalogue.OVS} Coua takes {figure(found[SLOW], 'mean_us')} us {times_of(found[SLOW])}."
    return out + caveats(found)


def lost_latency(rows):
    """Less is better: it is Coua's number that stands for the peer's, and the other way round."""
    found = by_name(rows)
    slower = [words for field, words in TIMES
              if compare(field, found.get("ovs", {}), found.get("coua", {})) == -1]
    return [f"{catalogue.OVS}: {', '.join(slower)} of the time of a packet"] if slower else []


SENTENCES = {"cold-start": cold_start, "attack": attack, "latency": latency}
LOSSES = {"cold-start": lost_cold_start, "attack": lost_attack, "latency": lost_latency}

# What the table of a figure has beside the name of the row: a heading and a field.
COLUMNS = {
    "cold-start": (("second", "second"), ("Mpps", "mops"), ("packets so far", "packets"), ("misses", "misses"),
                   ("packets / those of Open vSwitch", "ratio_to_ovs")),
    "attack": (("% of attack", "attack"), ("Mpps", "mops"), ("Mpps of the rest", "rest_mops"),
               ("share of its rate", "ratio_to_peace")),
    "latency": (("offered Mpps", "offered_mops"), ("peak Mpps", "peak_mops"), ("mean us", "mean_us"),
                ("of raw I/O", "raw_io_us"), ("in the datapath", "datapath_us"),
                ("median us", "p50_us"), ("p99 us", "p99_us"), ("p99.9 us", "p999_us"),
                ("p99.9 us of the median window", "window_p999_us"), ("peak found the ring full", "peak_refused"),
                ("lost", "lost"), ("late", "late")),
}


SHARES = ("lost", "late", "peak_refused")


def cells(kind, rows):
    """Heading and lines of a table."""
    lines = []
    for row in rows:
        if row["name"] not in LABELS:
            continue
        values = [row["params"].get(field, row.get(field)) for _, field in COLUMNS[kind]]
        lines.append([LABELS[row["name"]], *(
            "–" if not isinstance(each, (int, float)) else f"{each:.4f}" if field in SHARES else figures_of(each)
            for each, (_, field) in zip(values, COLUMNS[kind]))])
        if kind == "latency" and is_rate(row.get("lost")) and row["lost"] > MOST_LOST:
            lines[-1][0] += " (loses packets)"
    return ["", *(heading for heading, _ in COLUMNS[kind])], lines
