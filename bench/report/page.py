# SPDX-License-Identifier: Apache-2.0
"""One HTML page of what was measured. It needs nothing but itself: drawings are SVG in the page."""

import json
import math
import os
import pathlib
import re
import subprocess
import tempfile
from html import escape

import catalogue
import control
import findings
import situations

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --dim: #666; --line: #ddd; --box: #f5f5f2;
  --good: #006b46; --bad: #a33b00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e3; --paper: #181a1b; --dim: #a0a0a0; --line: #3a3d3f;
  --box: #232628; --good: #4cc38a; --bad: #ff9457; } }
body { color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 46rem; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .3rem; }
p { margin: .5rem 0; } .dim, figcaption { color: var(--dim); font-size: .9rem; }
.shows { font-weight: 600; } .met { color: var(--good); } .missed { color: var(--bad); }
figure { margin: 1rem 0; } svg { display: block; width: 100%; max-width: 40rem; height: auto; }
pre { background: var(--box); padding: .6rem; overflow-x: auto; font-size: .8rem; user-select: all;
  white-space: pre-wrap; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } td.words { white-space: normal; text-align: left; }
"""


def table(head, lines, classes=()):
    """Cells are text, or a pair of a class and a text."""
    def cell(tag, content):
        kind, text = content if isinstance(content, tuple) else ("", content)
        return f'<{tag} class="{kind}">{escape(text)}</{tag}>' if kind else f"<{tag}>{escape(text)}</{tag}>"
    out = '<div class="wide"><table><thead><tr>' + "".join(cell("th", each) for each in head) + "</tr></thead><tbody>"
    for each in lines:
        out += "<tr>" + "".join(cell("td", content) for content in each) + "</tr>"
    return out + "</tbody></table></div>\n"


def draw(program, figure, rows):
    """The SVG, or why there is none, as a pair."""
    drawn = []
    for row in rows:
        if figure.kind == "stalls":
            drawn.append({"name": row["name"], "params": {}, figure.field: row.get(figure.field)})
            continue
        line = findings.line_of(figure, row)
        if line is None or not isinstance(row.get(figure.field), (int, float)):
            continue
        params = {figure.x: row["params"].get(figure.x)} if figure.x else {}
        drawn.append({**row, "name": line.label, "params": params})
    # A limit that lies far above would only stand in the legend.
    highest = max((row[figure.field] for row in drawn if isinstance(row[figure.field], (int, float))), default=0)
    if not any(row.get("limit_mops", 0) <= 1.2 * highest for row in drawn if "limit_mops" in row):
        for row in drawn:
            row.pop("limit_mops", None)
    report = {"bench": figure.name, "params": {"bars": not figure.x}, "rows": drawn}
    with tempfile.TemporaryDirectory(prefix="coua-report-") as folder:
        source, picture = pathlib.Path(folder, "rows.json"), pathlib.Path(folder, "rows.svg")
        source.write_text(json.dumps(report))
        done = subprocess.run([program, "plot", source, "-o", picture, "--page", "--y", figure.field, "--title",
                               figure.title], capture_output=True, text=True, timeout=60, start_new_session=True)
        if done.returncode != 0:
            return "", (done.stderr.strip().splitlines() or ["no drawing"])[-1].replace(str(source), figure.name)
        return re.sub(r"^<svg ", f'<svg role="img" aria-label="{escape(figure.title)}" ', picture.read_text()), ""


def numbers(figure, rows):
    """What was drawn, as a table."""
    if figure.kind == "stalls":
        return table(["action", "gap us", "longest us", "action ms"],
                     [[row["name"], *(findings.figures_of(row[each]) if each in row else "–"
                                      for each in ("gap_us", "longest_gap_us", "action_ms"))] for row in rows])
    if figure.kind in situations.COLUMNS:
        return table(*situations.cells(figure.kind, rows))
    if figure.kind == "control":
        names = {"coua": "Coua", "ovs": catalogue.OVS}
        done = [row for row in rows if "updates_per_s" in row]
        return table(["", "batch", "asked/s", "done/s", "Mpps without", "Mpps with", "share"],
                     [[names.get(row["name"], row["name"]), str(row["params"]["batch"]),
                       findings.count(row["params"]["updates"]), findings.figures_of(row["updates_per_s"]),
                       findings.figures_of(row["none_mops"]), findings.figures_of(row["mops"]),
                       f"{row['ratio_to_none']:.2f}"] for row in done]) + table(
                           ["ovs-ofctl into", "way", "seconds"],
                           [[names.get(name, name), way, findings.figures_of(seconds)]
                            for (name, way), seconds in control.loads(rows).items()])
    if figure.kind == "updates":
        return table([figure.x_words, "Mpps", "share of the rate without"],
                     [[findings.count(row["params"].get("updates", 0)), findings.figures_of(row["mops"]),
                       f"{row['ratio_to_none']:.2f}" if "ratio_to_none" in row else "–"]
                      for row in rows if row["name"] == "coua"])
    found = [(line, findings.points_of(figure, rows, line)) for line in figure.lines]
    found = [(line, points) for line, points in found if points]
    xs = sorted({x for _, points in found for x in points}, key=lambda it: (it is not None, it))
    ours = findings.best(figure, rows, catalogue.OURS)
    peers = findings.best(figure, rows, catalogue.PEER)

    def shown(points, x):
        if x not in points:
            return "–"
        spread = points[x].spread
        return findings.figures_of(points[x].y) + ("" if spread is None else f" ±{100 * spread:.0f} %")

    if not figure.x:
        return table(["", figure.unit, "Coua / it"],
                     [[line.label, shown(points, None), "" if line.role == catalogue.OURS or None not in ours else
                       f"{ours[None].y / points[None].y:.2f}"] for line, points in found])
    head = [figure.x_words, *(line.label for line, _ in found)]
    others = [line.label for line, _ in found if line.role == catalogue.PEER]
    head += [f"Coua / {others[0] if len(others) == 1 else 'fastest other'}"] if peers else []
    return table(head, [[findings.count(x), *(shown(points, x) for _, points in found),
                         *([f"{ours[x].y / peers[x].y:.2f}" if x in ours and x in peers else "–"] if peers else [])]
                        for x in xs])


def section(program, shown_program, figure, kept):
    """One figure; of results that make none, the reason."""
    try:
        return whole_section(program, shown_program, figure, kept)
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError,
            subprocess.TimeoutExpired) as error:
        return (f'<section id="{figure.name}">\n<h2>{escape(figure.title)}</h2>\n<p class="missed">Its results make no '
                f"figure: {escape(f'{type(error).__name__}: {error}')}</p>\n</section>\n")


def losses(figure, kept):
    try:
        return findings.losses(figure, findings.rows_of(figure, kept))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return []  # its section says why


def command(shown_program, each, found):
    """As it was run."""
    words = f"{each.tool or shown_program} {' '.join(map(str, found['words']))} --json"
    folder = os.path.dirname(shown_program)
    return f"BUILD={folder} {words}" if each.tool and folder != "build" else words


def whole_section(program, shown_program, figure, kept):
    rows = findings.rows_of(figure, kept)
    drawing, trouble = draw(program, figure, rows)
    notes = [note for each in figure.runs if kept.get(each.name, {}).get("status") == "done"
             for note in kept[each.name]["report"].get("notes", [])]
    commands = "\n".join(command(shown_program, each, kept[each.name]) for each in figure.runs if each.name in kept)
    others = [each.name for each in figure.runs if each.name in kept and kept[each.name]["words"] != list(each.words)]
    out = f'<section id="{figure.name}">\n<h2>{escape(figure.title)}</h2>\n'
    out += f'<p class="shows">{escape(findings.sentence(figure, rows))}</p>\n<p>{escape(figure.about)}</p>\n'
    limit = "; dashed: the limit of the machine" if "stroke-dasharray" in drawing else ""
    out += f"<figure>{drawing}<figcaption>{escape(figure.unit)}{limit}</figcaption></figure>\n" if drawing else \
        f'<p class="dim">There is no drawing: {escape(trouble)}</p>\n'
    out += numbers(figure, rows)
    out += "".join(f'<p class="dim">Note: {escape(note)}</p>\n' for note in notes)
    if others:
        out += (f'<p class="missed">Not measured as this version asks at this depth, but with the words below: '
                f"{escape(', '.join(others))}.</p>\n")
    return out + f"<pre>{escape(commands)}</pre>\n</section>\n"


def targets(judged):
    lines = []
    for each in judged:
        close = ", within the spread" if each.close else ""
        state = (("met", "met" + close) if each.met else ("missed", "not met" + close) if each.ratio is not None
                 else ("dim", each.why))
        # Away from the target: what is not met must not look so.
        rounded = math.ceil if each.target.at_most else math.floor
        lines.append([("words", each.target.what), f"{each.target.ratio:g}",
                      "–" if each.ratio is None else f"{rounded(each.ratio * 100) / 100:.2f}", state])
    measured = [each for each in judged if each.ratio is not None]
    met = sum(each.met for each in measured)
    return (f'<section id="targets">\n<h2>Targets</h2>\n<p class="shows">{met} of the {len(measured)} targets that '
            f"were measured are met; {len(judged) - len(measured)} were not measured.</p>\n<p>They are the project's "
            "own (docs/benchmarks.md, Targets): the rate of Coua over that of Open vSwitch with DPDK on the same "
            "ports, packets and rules, one worker, frames of 64 bytes.</p>\n"
            + table(["what", "target", "here", ""], lines) + "</section>\n")


def troubles(figures, kept, interrupted):
    lines = []
    for each in dict.fromkeys(one for figure in figures for one in figure.runs):
        found = kept.get(each.name)
        if found is None:
            lines.append([each.name, "not measured", ("words", "it was ended before" if each.name in interrupted else
                                                      "no result is kept")])
        elif found["status"] != "done":
            lines.append([each.name, "failed" if found["status"] == "failed" else "left out",
                          ("words", found["reason"])])
    if not lines:
        return ""
    return '<section id="missing">\n<h2>What is missing</h2>\n' + table(["run", "", "why"], lines) + "</section>\n"


def machine_words(kept):
    """Of each machine that anything was measured on."""
    out = []
    for each in kept.values():
        machine = each["report"].get("machine", {}) if each["status"] == "done" else {}
        if not machine:
            continue
        pages = machine.get("huge_pages_2m", 0)
        words = (f"{machine.get('cpu', 'unknown CPU')}, {machine.get('cpus', '?')} CPUs"
                 f"{' of a virtual machine' if machine.get('virtual') else ''}, {machine.get('simd', '?')}, "
                 f"{machine.get('memory_mib', 0) / 1024:.0f} GiB of memory, "
                 f"{pages if pages else 'no'} huge pages of 2 MiB, Linux {machine.get('kernel', '?')}, "
                 f"compiler {machine.get('compiler', '?')}")
        if words not in out:
            out.append(words)
    return out


def make(program, shown_program, depth, figures, kept, version, interrupted=()):
    """The whole page. `program` is the coua-bench that draws."""
    measured = [figure for figure in figures if findings.rows_of(figure, kept)]
    dates = sorted(each["when"] for each in kept.values() if "when" in each)
    when = "nothing was measured" if not dates else dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    machines = machine_words(kept)
    tools = {each.name for figure in figures for each in figure.runs if each.tool}
    programs = {each.get("program") for name, each in kept.items() if each["status"] == "done" and name not in tools}
    lost = [(figure, each) for figure in measured for each in losses(figure, kept)]
    out = ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8" />\n<meta name="viewport" '
           'content="width=device-width, initial-scale=1" />\n<title>Coua: benchmark report</title>\n'
           f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>Coua: benchmark report</h1>\n")
    out += "".join(f"<p>{escape(each)}</p>\n" for each in machines)
    out += f'<p class="dim">{escape(when)}; Coua {escape(version)}; depth {escape(depth)}</p>\n'
    if interrupted:
        out += '<p class="missed">It was ended early: this is what was measured until then.</p>\n'
    if len(machines) > 1 or len(programs) > 1:
        out += ('<p class="missed">The results are of more than one machine or build: compare them within a figure '
                "only.</p>\n")
    out += ("<p>Absolute numbers are those of this machine and hour; the ratios within a figure are what to compare. "
            "A rate is the median of its windows, ± their median deviation. docs/benchmarks.md says how it is "
            "measured.</p>\n")
    out += targets(findings.judge(figures, kept))
    if lost:
        out += '<section id="losses">\n<h2>Where others are faster</h2>\n<ul>\n' + "".join(
            f'<li><a href="#{figure.name}">{escape(figure.title)}</a>: {escape(each)}</li>\n'
            for figure, each in lost) + "</ul>\n</section>\n"
    out += "".join(section(program, shown_program, figure, kept) for figure in measured)
    out += troubles(figures, kept, interrupted)
    return out + "</body>\n</html>\n"
