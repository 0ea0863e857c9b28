#!/usr/bin/env python3
"""All strategies on one program with equal time and seeds, as in Figures 4 to 7 of "Grammar-based Whitebox Fuzzing".

Usage: run.py [--time S] [--repeat N] [--strategies A,B] --grammar FILE [--scanner FILE] [--lexer FUNCTION] [--module NAME=FILE,FILE]... -- PROGRAM [ARGS]

Prints a Markdown table: for each strategy inputs, traced runs, coverage of branch outcomes in total and by module (a set of source
files), the share of the corpus that reaches each module, pruned answers and time by phase; medians with the least and the
greatest value over the repetitions. With --lexer there are two more rows: `whitebox-tokens`, and `grammar-whitebox` over that
function's tokens. PROGRAM was built with `tarragon cc -g`. Needs `tarragon` on the PATH.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ALL = ["random", "mutate", "grammar-random", "grammar-enumerate", "tree-mutate", "whitebox", "grammar-whitebox", "cese", "auto"]


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--time", type=float, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--strategies", default=",".join(ALL))
    parser.add_argument("--grammar", required=True)
    parser.add_argument("--scanner")
    parser.add_argument("--lexer")
    parser.add_argument("--module", action="append", default=[])
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def branches(lcov):
    """Branches of each source file: how many there are and how many were taken."""
    files, name = {}, None
    for line in pathlib.Path(lcov).read_text().splitlines():
        if line.startswith("SF:"):
            name = pathlib.Path(line[3:]).name
        elif line.startswith("BRDA:"):
            taken = line.rsplit(",", 1)[1] not in ("-", "0")
            total, hit = files.get(name, (0, 0))
            files[name] = (total + 1, hit + taken)
    return files


def reaching(corpus, files, command):
    """The share of the inputs that take a branch in any of the files."""
    inputs = sorted(pathlib.Path(corpus).iterdir())[:50]
    hits = 0
    for path in inputs:
        with tempfile.NamedTemporaryFile(suffix=".info") as info:
            replay = ["tarragon", "replay", "--quiet", str(path), "--lcov", info.name, "--", *command]
            subprocess.run(replay, capture_output=True)
            found = branches(info.name)
        hits += any(found.get(file, (0, 0))[1] for file in files)
    return hits / max(1, len(inputs))


def campaign(options, strategy, seeds, seed, modules):
    out = tempfile.mkdtemp()
    shutil.rmtree(out)
    grammar = ["--grammar", options.grammar] + (["--scanner", options.scanner] if options.scanner else [])
    name, _, tokens = strategy.partition("+")
    fuzz = ["tarragon", "fuzz", "--quiet", "--sanitizer", "off", "--strategy", name, *grammar]
    fuzz += ["--lexer", options.lexer] if tokens or name == "whitebox-tokens" else []
    fuzz += ["--seeds", seeds, "--seed", str(seed), "--time", f"{options.time}s", "--out", out, "--", *options.command]
    subprocess.run(fuzz, capture_output=True)
    stats = json.loads(pathlib.Path(out, "stats.json").read_text())
    files = branches(pathlib.Path(out, "lcov.info"))
    row = {
        "inputs": stats["runs"],
        "traced": stats["symbolic_runs"],
        "covered": stats["coverage"]["covered"],
        "bugs": len(stats["bugs"]),
        "pruned": stats["sentences"]["pruned"],
        "solving": stats["seconds"]["solving"],
        "grammar": stats["seconds"]["grammar"],
    }
    for name, sources in modules.items():
        total = sum(files.get(file, (0, 0))[0] for file in sources)
        hit = sum(files.get(file, (0, 0))[1] for file in sources)
        row[name] = 100 * hit / max(1, total)
        row[f"{name} reached by"] = 100 * reaching(pathlib.Path(out, "corpus"), sources, options.command)
    shutil.rmtree(out)
    return row


def sentences(options, folder):
    """The same seeds for all: sentences that take every pair of a rule within a rule."""
    scanner = ["--lexer", options.scanner] if options.scanner else []
    sample = ["tarragon", "grammar", "sample", options.grammar, *scanner, "--quiet", "--k-path", "2", "-0"]
    output = subprocess.run(sample, capture_output=True, check=True).stdout
    for number, text in enumerate(output.split(b"\0")):
        pathlib.Path(folder, f"{number:03}").write_bytes(text)


def spread(values, unit):
    shown = [f"{value:.0f}{unit}" for value in (statistics.median(values), min(values), max(values))]
    return shown[0] if shown[1] == shown[2] else f"{shown[0]} ({shown[1]}–{shown[2]})"


def main():
    options = arguments()
    modules = dict(module.split("=", 1) for module in options.module)
    modules = {name: files.split(",") for name, files in modules.items()}
    table = []
    with tempfile.TemporaryDirectory() as seeds:
        sentences(options, seeds)
        strategies = options.strategies.split(",") + (["whitebox-tokens", "grammar-whitebox+tokens"] if options.lexer else [])
        for strategy in strategies:
            rows = [campaign(options, strategy, seeds, seed, modules) for seed in range(options.repeat)]
            table.append((strategy, rows))
            print(f"{strategy}: {[row['covered'] for row in rows]}", file=sys.stderr)
    columns = list(table[0][1][0])
    print("| strategy | " + " | ".join(columns) + " |")
    print("|" + "---|" * (len(columns) + 1))
    for strategy, rows in table:
        unit = lambda column: " %" if column.split(" ")[0] in modules else " s" if column in ("solving", "grammar") else ""
        cells = [spread([row[column] for row in rows], unit(column)) for column in columns]
        print(f"| {strategy} | " + " | ".join(cells) + " |")


main()
