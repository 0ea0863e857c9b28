#!/usr/bin/env python3
"""Tables 2 to 5 of the CESE paper: CESE, plain whitebox search, grammar enumeration and random inputs on real programs, at equal time.

Usage: programs.py [--time S] [--packages DIR] [SUBJECT...]

SUBJECT is bc, lua, cuetools, jq or ftp (all if none is named). `cargo run --release -p bench -- packages NAME` builds the first four, and
--packages says in which folder; the last is bundled and built here. Prints a Markdown table with covered branch outcomes and inputs of
each strategy, next to what the program's own tests cover, as far as they are inputs of this program. Needs `tarragon` on the PATH.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
STRATEGIES = ["cese", "whitebox", "grammar-enumerate", "random"]


def bc_tests(folder, out):
    """The files of the package's own tests; they need the library, which the test command loads."""
    return sorted((folder / "Test").glob("*.b")), [folder / "bc" / "bc", "-l", "@@"]


def jq_tests(folder, out):
    """The programs of the package's own tests: in each block the first line."""
    programs = []
    for file in sorted((folder / "tests").glob("*.test")):
        blocks = re.split(r"\n\s*\n", re.sub(r"(?m)^#.*\n", "", file.read_text()))
        programs += [block.strip().splitlines()[0] for block in blocks if block.strip() and not block.strip().startswith("%%FAIL")]
    for number, program in enumerate(programs):
        (out / f"{number:04}").write_text(program)
    return sorted(out.iterdir()), [folder / "jq", "-n", "-f", "@@"]


def ftp_tests(folder, out):
    return sorted((EXAMPLES / "ftp" / "tests").glob("*.txt")), [folder / "ftpd"]


# Grammar, scanner, command, and the package's own tests; {} is the folder of the built package.
SUBJECTS = {
    "bc": ("{}/bc/bc.y", "{}/bc/scan.l", ["{}/bc/bc", "-q"], bc_tests),
    "lua5.4": (HERE.parent / "strategies" / "lua.tg", None, ["{}/src/lua", "-"], None),
    "cuetools": ("{}/src/lib/cue_parse.y", "{}/src/lib/cue_scan.l", ["{}/src/tools/cueprint", "-i", "cue", "@@"], None),
    "jq": ("{}/src/parser.y", "{}/src/lexer.l", ["{}/jq", "-n", "-f", "@@"], jq_tests),
    "ftp": (EXAMPLES / "ftp" / "ftp.tg", None, ["{}/ftpd"], ftp_tests),
}


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("Usage: "))
    parser.add_argument("--time", type=float, default=60)
    parser.add_argument("--packages", default="target/packages", help="folder of the built packages")
    parser.add_argument("subjects", nargs="*")
    options = parser.parse_args()
    options.subjects = [{"lua": "lua5.4"}.get(name, name) for name in options.subjects] or list(SUBJECTS)
    for name in options.subjects:
        if name not in SUBJECTS:
            parser.error(f"{name} is no subject; name some of {', '.join(SUBJECTS)}")
    return options


def campaign(strategy, grammar, scanner, command, time, folder):
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    fuzz = ["tarragon", "fuzz", "--quiet", "--sanitizer", "off", "--lcov", "off", "--timeout", "200ms", "--time", f"{time}s"]
    fuzz += ["--strategy", strategy, "--out", str(out)]
    if strategy in ("cese", "grammar-enumerate"):
        fuzz += ["--grammar", grammar] + (["--scanner", scanner] if scanner else [])
    failed = subprocess.run([*fuzz, "--", *command], capture_output=True, text=True)
    if not (out / "stats.json").exists():
        sys.exit(f"{' '.join(fuzz)}: {failed.stderr}")
    stats = json.loads((out / "stats.json").read_text())
    return stats["coverage"], stats["runs"]


def own_tests(tests, folder, scratch):
    """Branch outcomes that the package's own tests cover."""
    if tests is None:
        return "none in the source"
    inputs = scratch / "tests"
    inputs.mkdir()
    files, command = tests(folder, inputs)
    words = [str(word) for word in command]
    replay = ["tarragon", "replay", "--json", "--timeout", "10s", *map(str, files), "--", *words]
    found = json.loads(subprocess.run(replay, capture_output=True, text=True).stdout.splitlines()[-1])
    return f"{found['coverage']['covered']:,} ({len(files)} files)"


def built(name, options, scratch):
    if name != "ftp":
        return pathlib.Path(options.packages, "tarragon", name).resolve()
    folder = scratch / "ftp"
    shutil.copytree(EXAMPLES / "ftp", folder)
    subprocess.run(["make", "-s", "clean"], cwd=folder)
    subprocess.run(["make", "-s", f"CC={shutil.which('tarragon-cc') or 'tarragon cc'}"], cwd=folder, check=True)
    return folder


def row(name, options, scratch):
    grammar, scanner, command, tests = SUBJECTS[name]
    folder = built(name, options, scratch)
    inside = lambda text: str(text).replace("{}", str(folder))
    command = [inside(word) for word in command]
    if not pathlib.Path(command[0]).exists():
        sys.exit(f"{command[0]} is not there: `cargo run --release -p bench -- packages --work {options.packages} {name}` builds it")
    cells, outcomes = [], 0
    for strategy in STRATEGIES:
        coverage, runs = campaign(strategy, inside(grammar), scanner and inside(scanner), command, options.time, scratch)
        outcomes = coverage["total"]
        cells.append(f"{coverage['covered']:,} ({runs:,} inputs)")
        print(f"{name}, {strategy}: {cells[-1]}", file=sys.stderr)
    return [name, f"{outcomes:,}", *cells, own_tests(tests, folder, scratch)]


def main():
    options = arguments()
    print("| program | outcomes | " + " | ".join(STRATEGIES) + " | own tests |")
    print("|" + "---|" * (len(STRATEGIES) + 3))
    for name in options.subjects:
        with tempfile.TemporaryDirectory() as scratch:
            print("| " + " | ".join(row(name, options, pathlib.Path(scratch))) + " |", flush=True)


main()
