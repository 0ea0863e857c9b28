#!/usr/bin/env python3
"""The mistake of Figure 2 of the CESE paper in the bundled file server, by strategy.

Usage: lengths.py [--time S] [STRATEGY ...]

Builds examples/ftp and runs each strategy for the time given (60 seconds), then prints a Markdown table: inputs, branch coverage, and
when the overflow was found, by how long an input. Needs `tarragon` on the PATH.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "ftp"
STRATEGIES = ["cese", "whitebox", "grammar-enumerate", "random", "grammar-whitebox", "auto"]


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--time", type=float, default=60, help="seconds for one strategy")
    parser.add_argument("strategies", nargs="*", default=STRATEGIES)
    return parser.parse_args()


def build(folder):
    program = pathlib.Path(folder, "ftp")
    shutil.copytree(EXAMPLE, program)
    compiler = shutil.which("tarragon-cc") or "tarragon cc"
    subprocess.run(["make", "-s", f"CC={compiler}"], cwd=program, check=True)
    return program / "ftpd"


def search(program, strategy, folder, limits):
    """Statistics, and for each bug the seconds after which it was written and the bytes of its input."""
    out = pathlib.Path(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    fuzz = ["tarragon", "fuzz", "--quiet", "--lcov", "off", "--strategy", strategy, *limits, "--out", str(out)]
    if strategy not in ("whitebox", "random"):
        fuzz += ["--grammar", str(EXAMPLE / "ftp.tg")]
    started = time.time()
    subprocess.run([*fuzz, "--", str(program)], capture_output=True)
    inputs = [path for path in (out / "crashes").glob("*") if not path.suffix]
    found = [(path.stat().st_mtime - started, path.stat().st_size) for path in inputs]
    return json.loads((out / "stats.json").read_text()), sorted(found)


def main():
    options = arguments()
    print("| strategy | inputs | a second | coverage | bugs | overflow after | input |")
    print("|" + "---|" * 7)
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        search(program, "random", folder, ["--max-runs", "1"])  # makes the variants
        for strategy in options.strategies:
            stats, found = search(program, strategy, folder, ["--time", f"{options.time}s"])
            coverage = f"{stats['coverage']['covered']} of {stats['coverage']['total']}"
            bugs = ", ".join(bug["kind"] for bug in stats["bugs"]) or "none"
            first = [f"{found[0][0]:.1f} s", f"{found[0][1]:,} bytes"] if found else ["not found", ""]
            row = [f"`{strategy}`", f"{stats['runs']:,}", f"{stats['runs_per_second']:,.0f}", coverage, bugs, *first]
            print("| " + " | ".join(row) + " |", flush=True)


main()
