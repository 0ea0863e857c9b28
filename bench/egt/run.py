#!/usr/bin/env python3
"""Tables 1 to 4 of "Execution Generated Test Cases" (2005) on programs in the shape of the paper's.

Usage: run.py [--tables 1234] [--limit SECONDS]

For each size of the input, all paths are explored (`--exhaustive --fixed-len`), with one test for
each (`--keep-by paths`). Prints Markdown: time, number of tests, coverage of the lines of the code
under test up to that size (in `lcov.info`), and mismatches with the C library's printf, each beside
the paper's figure. Sizes that are not finished within the limit are marked with `>`. Needs
`tarragon` on the PATH.
"""

import argparse
import json
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PAPERS = HERE.parent.parent / "examples" / "papers"

# Size: seconds, tests, coverage in percent, largest output.
CONVERSION = {
    1: (16, 10, 84.0, 5),
    2: (95, 38, 94.2, 8),
    3: (446, 132, 94.2, 11),
    4: (2052, 458, 95.6, 15),
    5: (9300, 1569, 95.6, 19),
}
# Implementation: by size, seconds and tests; coverage; mismatches with the C library, of as many
# tests of its own; mismatches with the others in all tests.
PRINTF = {
    "full": ({2: (21, 34), 3: (240, 356), 4: (2447, 3234)}, 95, (426, 4214), 624),
    "small": ({2: (2, 17), 3: (108, 75), 4: (1266, 337)}, 95, (146, 501), 6395),
    "fast": ({2: (15, 30), 3: (190, 273), 4: (5256, 2105)}, 98, (7, 3316), 91),
}
# The bugs that the paper names, by what conversions that show them look like.
NAMED = {
    "groups": rb"%[0-9]*'[0-9]*l*[diu]",
    "blank and plus": rb"%[+ ]+[0-9]*l*[uoxX]",
    "width of strings": rb"%[0-9]*[1-9][0-9]*s",
    "t and z": rb"%[0-9]*[tz][uoxX]",
}
# Size: seconds, tests.
SERVER = {
    1: (0, 1),
    2: (0, 1),
    3: (57, 18),
    4: (628, 90),
    5: (973, 97),
    12: (51300, 1173),
    128: (51300, 165),
}


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--tables", default="1234")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one size")
    return parser.parse_args()


def build(program, sources, *options):
    words = ["tarragon", "cc", "-g", "-Wno-format-security", *options, "-o", program, *sources]
    subprocess.run(words, check=True)


class Suite:
    """All paths of a program for inputs of one size."""

    def __init__(self, program, size, limit, out, timeout="1s"):
        self.out = out
        words = ["tarragon", "fuzz", "--json", "--exhaustive", "--fixed-len", str(size)]
        words += ["--keep-by", "paths", "--time", f"{limit}s", "--timeout", timeout]
        words += ["--lcov", "off", "--out", out, "--", program]
        # The variants are made once for a build, which is no part of a search.
        prepare = [*words[:-2], "--max-runs", "1", "--", program]
        subprocess.run(prepare, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(out, ignore_errors=True)
        started, used = time.monotonic(), processor_time()
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
        self.seconds = time.monotonic() - started
        self.processor_seconds = processor_time() - used
        if ended.returncode == 2:
            raise SystemExit(f"{' '.join(map(str, words))}\n{ended.stderr}")
        self.stats = json.loads((out / "stats.json").read_text())
        self.finished = self.stats["stopped"] != "the time was up"
        # To run all tests again is no part of making them. What a path covers that never ends, it
        # covers soon.
        words = ["tarragon", "replay", out / "corpus", "--lcov", out / "lcov.info"]
        words += ["--timeout", "50ms" if timeout != "1s" else timeout, "--sanitizer", "off"]
        subprocess.run([*words, "--", program], stdout=subprocess.DEVNULL, check=False)

    def tests(self):
        """One for each path; those that show bugs are among them."""
        return sorted(path for path in (self.out / "corpus").iterdir() if path.is_file())

    def bugs(self):
        return sorted({bug["kind"] for bug in self.stats["bugs"]})

    def lines(self, source):
        """The lines of a source file, each with whether it was reached."""
        lines, here = {}, False
        for line in (self.out / "lcov.info").read_text().splitlines():
            if line.startswith("SF:"):
                here = line.endswith("/" + source) or line == f"SF:{source}"
            elif here and line.startswith("DA:"):
                number, count = line[3:].split(",")[:2]
                lines[int(number)] = int(count) > 0
        return lines


class Coverage:
    """Statements that were reached up to a size."""

    def __init__(self):
        self.lines = {}

    def add(self, lines):
        for number, reached in lines.items():
            self.lines[number] = self.lines.get(number, False) or reached
        return 100 * sum(self.lines.values()) / max(1, len(self.lines))


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(title, *cells):
    print(f"\n## {title}\n")
    row(*cells)
    row(*["---"] * len(cells))


def took(suite):
    sign = "" if suite.finished else "> "
    return f"{sign}{suite.seconds:.1f} s ({suite.processor_seconds:.1f} s)"


def processor_time():
    """Of all processes that were waited for: what a busy machine does not make longer."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def conversion(limit, scratch):
    head("Table 1: UTF-8 to UTF-7", "room", "size", "time (processor)", "paper", "tests", "paper",
         "coverage", "paper", "largest output", "paper", "found")
    rooms = {"2 n": "(2*(n)+1)", "7/3 n": "(7*(n)/3+1)", "enough": "(8*(n)+1)"}
    for room, factor in rooms.items():
        program, coverage = scratch / f"utf7{len(factor)}", Coverage()
        build(program, [PAPERS / "utf7.c"], f"-DROOM_FOR(n)={factor}")
        for size, (seconds, tests, percent, largest) in CONVERSION.items():
            suite = Suite(program, size, limit, scratch / f"{program.name}-{size}")
            outputs = [run(program, test)[1] for test in suite.tests()] if room == "enough" else []
            longest = max((len(out) - 1 for out in outputs if out != b"not UTF-8\n"), default="")
            row(room, size, took(suite), f"{seconds} s", len(suite.tests()), tests,
                f"{coverage.add(suite.lines('utf7.c')):.1f} %", f"{percent} %", longest, largest,
                ", ".join(suite.bugs()) or "nothing")


def run(program, test, *words):
    with open(test, "rb") as file:
        done = subprocess.run([program, *words], stdin=file, capture_output=True, timeout=10)
    return done.returncode, done.stdout


def printf(limit, scratch, tables):
    suites = {}
    if "2" in tables:
        head("Table 2: implementations of printf", "implementation", "length of the format",
             "time (processor)", "paper", "tests", "paper", "found")
    coverages = {}
    for name, (sizes, *_) in PRINTF.items():
        coverage = coverages[name] = Coverage()
        for size, (seconds, tests) in sizes.items():
            program = scratch / f"{name}-{size}"
            build(program, [HERE / "harness.c", HERE / f"{name}.c"], f"-DLENGTH_OF_FORMAT={size}")
            suite = Suite(program, size, limit, scratch / f"{name}-{size}.out")
            suites[name, size] = suite
            coverage.add(suite.lines(f"{name}.c"))
            if "2" in tables:
                row(name, size, took(suite), f"{seconds} s", len(suite.tests()), tests,
                    ", ".join(suite.bugs()) or "nothing")
    if "3" not in tables:
        return
    head("Table 3: mismatches with the C library", "implementation", "own tests", "mismatches",
         "paper", "all tests", "mismatches", "paper", "coverage", "paper",
         "named bugs, each with a format that shows it")
    for name, (_, percent, (mismatches, of), every_paper) in PRINTF.items():
        own = every = own_count = every_count = 0
        shown = {}
        for (other, size), suite in suites.items():
            program = scratch / f"{name}-{size}"
            for test in suite.tests():
                wrong = mismatch(program, test)
                if wrong and name == "full":
                    shown |= {bug: text for bug, text in named(test) if bug not in shown}
                every, every_count = every + wrong, every_count + 1
                if other == name:
                    own, own_count = own + wrong, own_count + 1
        row(name, own_count, own, f"{mismatches} of {of}", every_count, every,
            f"{every_paper} of 8031", f"{coverages[name].add({}):.1f} %", f"{percent} %",
            ", ".join(f"{bug} `{text}`" for bug, text in sorted(shown.items())))


def named(test):
    """The named bugs that a format of one conversion may show."""
    text = test.read_bytes().rstrip(b"\0")
    found = [(bug, re.search(pattern, text)) for bug, pattern in NAMED.items()]
    return [(bug, match[0].decode()) for bug, match in found if match and text.count(b"%") == 1]


def mismatch(program, test):
    """A format that the implementation refuses, or the C library does, says nothing."""
    status, output = run(program, test)
    if status == 3:
        return 0
    right, wanted = run(program, test, "libc")
    return int(right != 4 and (status, output) != (right, wanted))


def server(limit, scratch):
    head("Table 4: requests of a web server", "size", "time (processor)", "paper", "tests", "paper",
         "coverage", "found")
    program, coverage = scratch / "request", Coverage()
    build(program, [PAPERS / "request.c"])
    for size, (seconds, tests) in SERVER.items():
        # Many paths never end, and each of them takes all the time that it may.
        suite = Suite(program, size, limit, scratch / f"request-{size}", timeout="200ms")
        hangs = suite.out / "hangs"
        found = suite.bugs() + (["endless loop"] if hangs.is_dir() and any(hangs.iterdir()) else [])
        row(size, took(suite), f"{seconds} s", len(suite.tests()), tests,
            f"{coverage.add(suite.lines('request.c')):.1f} %", ", ".join(found) or "nothing")


def main():
    options = arguments()
    if not shutil.which("tarragon"):
        raise SystemExit("tarragon is not on the PATH: try PATH=$(scripts/build):$PATH")
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        if "1" in options.tables:
            conversion(options.limit, scratch)
        if set("23") & set(options.tables):
            printf(options.limit, scratch, options.tables)
        if "4" in options.tables:
            server(options.limit, scratch)


if __name__ == "__main__":
    main()
