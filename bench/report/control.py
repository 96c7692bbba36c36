# SPDX-License-Identifier: Apache-2.0
"""What the rows of the changes by a controller show, and of loading rules."""

import catalogue
from rates import count, figures_of, is_rate, point, thousands, times, verdict

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


def sentence(rows):
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


def losses(rows):
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
