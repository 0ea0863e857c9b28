#!/usr/bin/env python3
"""Tarragon's string solver beside cvc5 and Z3, one process for each file and solver, in one run.

Usage: run.py TARRAGON_SOLVE HAMPI_DATA [--limit SECONDS] [--every N]

HAMPI_DATA has hmp/ and wsu/. The others get each file as SMT-LIB (translate.py); a time limit counts as its time, which
favours them. Files that cannot be translated are left out for all. Times within Tarragon's process (reading and
solving, without starting it) are printed for all files, unbounded for wsu/.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from translate import Untranslatable, translate


def clock(command, limit):
    start = time.perf_counter()
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=limit).stdout
    except subprocess.TimeoutExpired:
        return limit, "timeout"
    return time.perf_counter() - start, (output.split() or ["nothing"])[0]


def within_process(solve, files, name):
    """Median and maximum of the microseconds that the solver reports."""
    run = subprocess.run([solve, "--json", *map(str, files)], capture_output=True, text=True)
    times = [json.loads(line)["microseconds"]["total"] for line in run.stdout.splitlines()]
    print(f"{name}: {len(times)} files, median {statistics.median(times) / 1000:.3f} ms, "
          f"maximum {max(times) / 1000:.3f} ms, total {sum(times) / 1e6:.3f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("solve")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=10)
    parser.add_argument("--every", type=int, default=1, help="only every Nth file for the comparison")
    args = parser.parse_args()
    hmp, wsu = sorted((args.data / "hmp").iterdir()), sorted((args.data / "wsu").iterdir())
    within_process(args.solve, hmp, "hmp/")
    within_process(args.solve, wsu, "wsu/ unbounded")
    others = {"cvc5": ["cvc5", "--strings-exp"], "z3": ["z3"]}
    others = {name: command for name, command in others.items() if shutil.which(name)}
    for name in {"cvc5", "z3"} - set(others):
        print(f"{name} is not installed: left out", file=sys.stderr)
    totals = dict.fromkeys(["tarragon", *others], 0.0)
    limits = dict.fromkeys(others, 0)
    used = left_out = differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in (hmp + wsu)[::args.every]:
            text = path.read_text(encoding="latin-1").replace("$HAMPI_LENGTH$", "4")
            try:
                smt = translate(text)
            except Untranslatable:
                left_out += 1
                continue
            (pathlib.Path(folder) / "q.hmp").write_text(text, encoding="latin-1")
            (pathlib.Path(folder) / "q.smt2").write_text(smt)
            used += 1
            seconds, verdict = clock([args.solve, f"{folder}/q.hmp"], args.limit)
            totals["tarragon"] += seconds
            for name, command in others.items():
                seconds, other = clock([*command, f"{folder}/q.smt2"], args.limit)
                totals[name] += seconds
                limits[name] += other == "timeout"
                if {verdict, other} == {"sat", "unsat"}:
                    differ += 1
                    print(f"{path.name}: tarragon {verdict}, {name} {other}")
    print(f"{used} files translated, {left_out} left out, {differ} verdicts differ; whole processes, limit {args.limit:g} s")
    for name, total in totals.items():
        note = f", {limits[name]} at the limit" if limits.get(name) else ""
        print(f"{name}: {total:.2f} s ({total / totals['tarragon']:.1f} x){note}")


main()
