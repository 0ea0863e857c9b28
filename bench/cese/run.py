#!/usr/bin/env python3
"""Table 1 of the CESE paper on the bundled calculator, for buffers of 1 to 6 bytes.

Usage: run.py [--sizes 1-6] [--limit S] [--whitebox-sizes 1-4]

Builds examples/calculator, then prints a Markdown table: for each size n the strings of the concrete and of the symbolic grammar
(derivations, and distinct strings), inputs that plain whitebox search and CESE run, time, processor time, branch coverage, and when CESE found
the division by zero. A buffer of n bytes holds up to n bytes of text. Plain whitebox search is the coarsest abstraction: nothing but holes. Needs
`tarragon`, bison and flex on the PATH.
"""

import argparse
import json
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parent.parent / "examples" / "calculator"


def span(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--sizes", type=span, default=span("1-6"))
    parser.add_argument("--whitebox-sizes", type=span, default=span("1-4"))
    parser.add_argument("--limit", type=float, default=600, help="seconds for one search")
    return parser.parse_args()


def build(folder):
    program = pathlib.Path(folder, "calculator")
    shutil.copytree(EXAMPLE, program)
    compiler = shutil.which("tarragon-cc") or "tarragon cc"
    subprocess.run(["make", "-s", f"CC={compiler}"], cwd=program, check=True)
    return program / "calculator"


def count(*words):
    output = subprocess.run(["tarragon", "grammar", *words, "--json"], capture_output=True, check=True).stdout
    return int(json.loads(output)["total"])


def strings(size):
    """Derivations and distinct strings, of the concrete grammar and of the symbolic one."""
    grammar, longest = str(HERE / "calculator.tg"), str(size)
    symbolic = ["symbolic", grammar, "--max-len", longest, "--count"]
    return (
        count("count", grammar, "--max-len", longest),
        count("count", grammar, "--max-len", longest, "--strings"),
        count(*symbolic, "--derivations"),
        count(*symbolic),
    )


def cpu_time():
    """Seconds of processor time of all that was run so far: Tarragon and the program, user and system."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def search(program, grammar, size, limit, folder):
    out = pathlib.Path(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    fuzz = ["tarragon", "fuzz", "--quiet", "--sanitizer", "off", "--lcov", "off", "--strategy", "cese"]
    fuzz += ["--grammar", str(grammar), "--max-len", str(size), "--time", f"{limit}s", "--out", str(out), "--", str(program)]
    started, before = time.time(), cpu_time()
    subprocess.run(fuzz, capture_output=True)
    stats = json.loads((out / "stats.json").read_text())
    crashes = [path.stat().st_mtime - started for path in (out / "crashes").glob("*-sigfpe")] if (out / "crashes").exists() else []
    return {
        "inputs": stats["runs"],
        "seconds": stats["seconds"]["total"],
        "cpu": cpu_time() - before,
        "covered": stats["coverage"]["covered"],
        "outcomes": stats["coverage"]["total"],
        "finished": stats["completeness"]["finished"],
        "complete": stats["completeness"]["complete"],
        "text": stats["completeness"]["text"],
        "crash": min(crashes, default=None),
    }


def coarsest(size, folder):
    """Up to so many holes."""
    grammar = pathlib.Path(folder, "coarsest.tg")
    grammar.write_text(f'line = any{{1,{size}}} ;\nany = /(?s-u:.)/ ;\n')
    return grammar


def shown(result):
    """Inputs, time, processor time and coverage of a search."""
    if result is None:
        return ["not run", "", "", ""]
    mark = "" if result["finished"] else " (not finished)"
    times = [f"{result['seconds']:.2f} s", f"{result['cpu']:.2f} s"]
    return [f"{result['inputs']:,}{mark}", *times, f"{result['covered']} of {result['outcomes']}"]


def main():
    options = arguments()
    print("| size | grammar | distinct | symbolic | distinct | whitebox | time | CPU | coverage | CESE | time | CPU | coverage | a CPU second | crash after |")
    print("|" + "---|" * 15)
    notes = []
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        search(program, HERE / "calculator.tg", 1, options.limit, folder)  # makes the traced variant
        for size in options.sizes:
            cells = [f"{number:,}" for number in strings(size)]
            plain = None
            if size in options.whitebox_sizes:
                plain = search(program, coarsest(size, folder), size, options.limit, folder)
            cese = search(program, HERE / "calculator.tg", size, options.limit, folder)
            crash = f"{cese['crash']:.2f} s" if cese["crash"] is not None else ""
            row = [str(size), *cells, *shown(plain), *shown(cese), f"{cese['inputs'] / cese['cpu']:,.0f}", crash]
            print("| " + " | ".join(row) + " |", flush=True)
            notes += [f"{size}, whitebox: {plain['text']}"] if plain else []
            notes.append(f"{size}, CESE: {cese['text']}")
    print()
    for note in notes:
        print(f"* {note}")


main()
