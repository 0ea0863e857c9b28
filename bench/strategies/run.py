#!/usr/bin/env python3
"""All strategies on one program with equal time and seeds, as in Figures 4 to 7 of "Grammar-based Whitebox Fuzzing".

Usage: run.py [--time S] [--repeat N] [--jobs N] [--strategies A,B] SUBJECT
       run.py [--time S] [--repeat N] [--jobs N] [--strategies A,B] --grammar FILE [--scanner FILE] [--lexer FUNCTION] [--module NAME=FILE,FILE]... -- PROGRAM [ARGS]

SUBJECT is sprig (bundled; built here), bc, lua, mujs or yajl: `cargo run --release -p bench -- packages` builds these, and
--packages says in which folder. Any other PROGRAM was built with `tarragon cc -g`. Needs `tarragon` on the PATH. --jobs campaigns
run at a time; a campaign keeps little more than one processor busy.

Prints two Markdown tables. The first has for each strategy inputs, traced runs, covered branch outcomes, bugs, pruned goals
(no sentence near reaches them) with their share of those that were solved for, and the shares of time that solving and the grammar took: medians with the least and the greatest value over the repetitions; and, as "passed after", how
many inputs `grammar-whitebox` had run when it had covered more than the strategy in the end, with the same seed. The second has by
module, which is a set of source files, the covered share of its branches / the share of all inputs that take a branch there / the share
of constraints that are made there. With --lexer there are two more rows:
`whitebox-tokens`, and `grammar-whitebox` over that function's tokens. A strategy with `-without` behind its name does without the grammar.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ALL = ["random", "mutate", "grammar-random", "tree-mutate", "whitebox", "grammar-whitebox", "auto"]
OVER_TOKENS = ["whitebox-tokens", "grammar-whitebox+tokens"]
HERE = pathlib.Path(__file__).resolve().parent
SPRIG = HERE.parent.parent / "examples" / "sprig"

# Grammar, scanner, lexer function, modules and command; {} is the folder of the built package.
SUBJECTS = {
    "sprig": (SPRIG / "sprig.tg", None, "next_token:arg1->kind",
              ["lexer=lexer.c", "parser=parser.c", "codegen=codegen.c", "vm=vm.c"], ["{}/sprig"]),
    "bc": ("{}/bc/bc.y", "{}/bc/scan.l", "yylex",
           ["lexer=scan.c,scan.l", "parser=bc.c,bc.y", "codegen=load.c,storage.c,util.c", "execution=execute.c,number.c"],
           ["{}/bc/bc", "-q"]),
    "lua5.4": (HERE / "lua.tg", None, "llex",
               ["lexer=llex.c", "parser=lparser.c", "codegen=lcode.c", "vm=lvm.c,ldo.c,ltable.c,lapi.c"], ["{}/src/lua", "-"]),
    "mujs": (HERE / "mujs.tg", None, "jsY_lex",
             ["lexer=jslex.c", "parser=jsparse.c", "codegen=jscompile.c", "vm=jsrun.c,jsproperty.c,jsvalue.c"],
             ["{}/build/release/mujs", "@@"]),
    "yajl": (HERE / "json.tg", None, "yajl_lex_lex", ["lexer=yajl_lex.c", "parser=yajl_parser.c"],
             ["{}/build/yajl-2.1.0/bin/json_verify"]),
}


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("Usage: "))
    parser.add_argument("--time", type=float, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--strategies", help="all if left out, those over tokens too where there is a lexer")
    parser.add_argument("--packages", default="target/packages", help="folder of the built packages")
    parser.add_argument("--grammar")
    parser.add_argument("--scanner")
    parser.add_argument("--lexer")
    parser.add_argument("--module", action="append", default=[])
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if not options.grammar:
        subject(parser, options)
    return options


def subject(parser, options):
    """Puts what is known of a subject into the options."""
    name = {"lua": "lua5.4"}.get(options.command[0], options.command[0])
    if name not in SUBJECTS:
        parser.error(f"{name} is no subject; name one of {', '.join(SUBJECTS)}, or give --grammar FILE -- PROGRAM")
    folder = pathlib.Path(options.packages, "tarragon", name).resolve()
    if name == "sprig":
        folder = pathlib.Path(tempfile.mkdtemp())
        subprocess.run(["tarragon", "cc", "-g", "-O1", "-o", folder / "sprig", *SPRIG.glob("*.c")], check=True)
    grammar, scanner, lexer, modules, command = SUBJECTS[name]
    inside = lambda text: str(text).replace("{}", str(folder))
    options.grammar, options.command = inside(grammar), [inside(word) for word in command]
    options.scanner = scanner and inside(scanner)
    options.lexer, options.module = options.lexer or lexer, options.module or modules
    if not pathlib.Path(options.command[0]).exists():
        parser.error(f"{options.command[0]} is not there: `cargo run --release -p bench -- packages --work {options.packages} {name}` builds it")


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


def campaign(options, strategy, seeds, seed, modules):
    out = tempfile.mkdtemp()
    shutil.rmtree(out)
    grammar = ["--grammar", options.grammar] + (["--scanner", options.scanner] if options.scanner else [])
    name, _, tokens = strategy.partition("+")
    if name.endswith("-without"):
        name, grammar = name.removesuffix("-without"), []
    fuzz = ["tarragon", "fuzz", "--quiet", "--sanitizer", "off", "--timeout", "200ms", "--strategy", name, *grammar]
    fuzz += ["--lexer", options.lexer] if tokens or name == "whitebox-tokens" else []
    fuzz += ["--seeds", seeds, "--seed", str(seed), "--time", f"{options.time}s", "--out", out, "--", *options.command]
    subprocess.run(fuzz, capture_output=True)
    stats = json.loads(pathlib.Path(out, "stats.json").read_text())
    files = branches(pathlib.Path(out, "lcov.info"))
    goals = sum(stats["sentences"][name] for name in ("pruned", "solved", "lifted"))
    row = {
        "inputs": stats["runs"],
        "traced": stats["symbolic_runs"],
        "covered": stats["coverage"]["covered"],
        "bugs": len(stats["bugs"]),
        "pruned": stats["sentences"]["pruned"],
        "of goals": 100 * stats["sentences"]["pruned"] / max(1, goals),
        "solving": 100 * stats["seconds"]["solving"] / stats["seconds"]["total"],
        "grammar": 100 * stats["seconds"]["grammar"] / stats["seconds"]["total"],
        "growth": [(step["run"], step["covered"]) for step in stats["growth"]],
    }
    by_file = {pathlib.Path(of["file"]).name: of for of in stats["files"]}
    constraints = max(1, sum(of["constraints"] for of in stats["files"]))
    by_module = {}
    for name, sources in modules.items():
        total = sum(files.get(file, (0, 0))[0] for file in sources)
        hit = sum(files.get(file, (0, 0))[1] for file in sources)
        of = [by_file[file] for file in sources if file in by_file]
        reached = 100 * max((file["reached"] for file in of), default=0) / stats["runs"]
        share = 100 * sum(file["constraints"] for file in of) / constraints
        by_module[name] = (100 * hit / max(1, total), reached, share)
    shutil.rmtree(out)
    return row, by_module


def sentences(options, folder):
    """The same seeds for all: sentences that take every pair of a rule within a rule."""
    scanner = ["--lexer", options.scanner] if options.scanner else []
    sample = ["tarragon", "grammar", "sample", options.grammar, *scanner, "--quiet", "--k-path", "2", "-0"]
    output = subprocess.run(sample, capture_output=True, check=True).stdout
    for number, text in enumerate(output.split(b"\0")):
        pathlib.Path(folder, f"{number:03}").write_bytes(text)


def spread(values, unit):
    shown = ["never" if value == math.inf else f"{value:.0f}{unit}" for value in (statistics.median(values), min(values), max(values))]
    return shown[0] if shown[1] == shown[2] else f"{shown[0]} ({shown[1]}–{shown[2]})"


def main():
    options = arguments()
    modules = dict(module.split("=", 1) for module in options.module)
    modules = {name: files.split(",") for name, files in modules.items()}
    table = []
    with tempfile.TemporaryDirectory() as seeds, concurrent.futures.ThreadPoolExecutor(options.jobs) as jobs:
        sentences(options, seeds)
        strategies = options.strategies.split(",") if options.strategies else ALL + (OVER_TOKENS if options.lexer else [])
        start = lambda strategy, seed: jobs.submit(campaign, options, strategy, seeds, seed, modules)
        # By seed, so that all strategies meet what else the machine has to do.
        started = {(strategy, seed): start(strategy, seed) for seed in range(options.repeat) for strategy in strategies}
        for strategy in strategies:
            rows = [started[strategy, seed].result() for seed in range(options.repeat)]
            table.append((strategy, rows))
            print(f"{strategy}: {[row['covered'] for row, _ in rows]}", file=sys.stderr)
    add_passed(table)
    totals(table)
    if modules:
        print()
        shares(table)


def add_passed(table):
    """After how many inputs grammar-whitebox had covered more than each strategy in the end, with the same seed."""
    growths = {strategy: [row.pop("growth") for row, _ in rows] for strategy, rows in table}
    for strategy, rows in table:
        for (row, _), growth in zip(rows, growths.get("grammar-whitebox", [])):
            row["passed after"] = next((run for run, covered in growth if covered > row["covered"]), math.inf)


def totals(table):
    columns = list(table[0][1][0][0])
    print("| strategy | " + " | ".join(columns) + " |")
    print("|" + "---|" * (len(columns) + 1))
    for strategy, rows in table:
        unit = lambda column: " %" if column in ("solving", "grammar", "of goals") else ""
        cells = [spread([row[column] for row, _ in rows], unit(column)) for column in columns]
        print(f"| {strategy} | " + " | ".join(cells) + " |")


def shares(table):
    """Medians by module: of its branches those covered, of the inputs those that reach it, of the constraints those made there."""
    modules = list(table[0][1][0][1])
    print("| strategy | " + " | ".join(modules) + " |")
    print("|" + "---|" * (len(modules) + 1))
    for strategy, rows in table:
        cell = lambda name: " / ".join(f"{statistics.median(of):.0f}" for of in zip(*(row[name] for _, row in rows)))
        print(f"| {strategy} | " + " | ".join(f"{cell(name)} %" for name in modules) + " |")


main()
