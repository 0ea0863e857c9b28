#!/usr/bin/env python3
"""Tarragon against AFL++ with CMPLOG on real programs, with clang's coverage as the judge.

Usage: run.py [--time SECONDS] [--repeat N] [--work DIR] [--core N] [SUBJECT…]

Fetches each subject (all if none is named; `--list` names them) from Debian's sources, builds it for
both and for the judge, and lets both search from one trivial seed, without a grammar, for the same
processor time, which the kernel counts (a cgroup for each). All their inputs are run in a build with
clang's coverage, and the branches that are covered there are compared: all of them, and those beyond
the seed's. Prints Markdown: medians, with the least and the greatest of the repetitions.

Needs root for cgroups, a deb-src entry, and afl++, clang-22, llvm-22 and `tarragon` on the PATH.
AFL++ and replays run as nobody, in folders of their own.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

from subjects import SUBJECTS

HERE = pathlib.Path(__file__).resolve().parent
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
CGROUPS = (pathlib.Path("/sys/fs/cgroup/cpuacct"), pathlib.Path("/sys/fs/cgroup"))
# How each build is made. The judge counts branches of the source.
AFL = {"AFL_QUIET": "1", "AFL_CC_COMPILER": "LLVM"}
BUILDS = {
    "tarragon": ("tarragon-cc", "tarragon-c++", "-g -O1", {}),
    "afl": ("afl-clang-fast", "afl-clang-fast++", "-g -O2", AFL),
    "cmplog": ("afl-clang-fast", "afl-clang-fast++", "-g -O2", AFL | {"AFL_LLVM_CMPLOG": "1"}),
    "judge": (
        "clang-22", "clang++-22", "-g -O0 -fprofile-instr-generate -fcoverage-mapping", {}
    ),
}
REPLAY_LIMIT = 5


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--time", type=float, default=60, help="processor seconds for each")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/var/tmp/peers"))
    parser.add_argument("--core", type=int, default=1, help="the core that both run on")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("subjects", nargs="*")
    return parser.parse_args()


def versions(package):
    """The versions of a source package that the mirror lists."""
    command = ["apt-cache", "showsrc", "--only-source", package]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    lines = text.splitlines()
    return [line.split(": ")[1] for line in lines if line.startswith("Version: ")]


def fetch(subject, work):
    """The unpacked source of a subject."""
    archives, source = work / "archives", work / "source" / subject.name
    if source.exists():
        return source
    archives.mkdir(parents=True, exist_ok=True)
    # Mirrors lack files of single versions.
    wanted = [subject.package, *(f"{subject.package}={it}" for it in versions(subject.package))]
    command = ["apt-get", "source", "--tar-only", "-qq"]
    if not any(subprocess.run([*command, it], cwd=archives).returncode == 0 for it in wanted):
        sys.exit(f"{subject.name}: no source of {subject.package}; is there a deb-src entry?")
    archive = sorted(archives.glob(f"{subject.package}_*.orig.tar.*"))[-1]
    source.mkdir(parents=True)
    unpack = ["tar", "xf", archive, "--strip-components=1", "-C", source]
    subprocess.run(unpack, check=True)
    return source


def build(subject, kind, work):
    """The program of one of the builds; what the build says is in a file beside it."""
    tree = work / "build" / kind / subject.name
    program = tree / subject.program
    if program.exists():
        return program
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(fetch(subject, work), tree, symlinks=True)
    cc, cxx, flags, more = BUILDS[kind]
    names = {"CC": cc, "CXX": cxx, "CFLAGS": flags, "CXXFLAGS": flags, "HERE": str(HERE)}
    log = tree.with_suffix(".log")
    with open(log, "w") as to:
        done = subprocess.run(
            subject.build, shell=True, cwd=tree, env=os.environ | names | more, stdout=to,
            stderr=subprocess.STDOUT,
        )
    if done.returncode != 0 or not program.exists():
        sys.exit(f"{subject.name}: the build for {kind} failed; see {log}")
    return program


def scratch(path):
    """An empty folder that nobody owns."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    os.chown(path, 65534, 65534)
    return path


class Meter:
    """Counts the processor time of a process and of all that it starts."""

    def __init__(self, name):
        root = next(root for root in CGROUPS if (root / "cgroup.procs").exists())
        self.group = root / f"tarragon-peers-{name}"
        self.group.mkdir(exist_ok=True)
        self.before = self.total()

    def total(self):
        usage = self.group / "cpuacct.usage"
        if usage.exists():
            return int(usage.read_text()) / 1e9
        return int((self.group / "cpu.stat").read_text().split()[1]) / 1e6

    def used(self):
        return self.total() - self.before

    def enter(self):
        (self.group / "cgroup.procs").write_text(str(os.getpid()))


def search(words, limit, core, name, cwd, env):
    """Runs a search until it has used that much processor time; how much it was."""
    meter = Meter(name)
    words = ["taskset", "-c", str(core), *map(str, words)]
    log = open(cwd / "log", "w")
    process = subprocess.Popen(
        words, cwd=cwd, env=os.environ | env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        preexec_fn=meter.enter, start_new_session=True,
    )
    # A search that waits instead of working is ended, too.
    end = time.monotonic() + 8 * limit + 60
    while process.poll() is None and meter.used() < limit and time.monotonic() < end:
        time.sleep(0.05)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    used = meter.used()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return used


def by_tarragon(subject, args, number):
    program = build(subject, "tarragon", args.work)
    folder = scratch(args.work / "runs" / subject.name / f"tarragon-{number}")
    (folder / "seed").write_text(subject.seed)
    common = ["--quiet", "--lcov", "off", "--seeds", "seed"]
    command = ["--", program, *subject.arguments]
    # The variants are made once for a build.
    warm = ["tarragon", "fuzz", *common, "--max-runs", "1", "--out", "warm", *command]
    subprocess.run(list(map(str, warm)), cwd=folder, stderr=subprocess.DEVNULL)
    words = ["tarragon", "fuzz", *common, "--seed", number, "--time", "3600s", "--out", "out"]
    used = search([*words, *command], args.time, args.core, f"t-{os.getpid()}", folder, {})
    found = [*folder.glob("out/corpus/*"), *folder.glob("out/crashes/*")]
    return found, used, runs_of(folder / "out" / "stats.json")


def runs_of(path):
    try:
        return json.loads(path.read_text())["runs"]
    except (OSError, ValueError, KeyError):
        return 0


def by_afl(subject, args, number):
    plain, cmplog = (build(subject, kind, args.work) for kind in ("afl", "cmplog"))
    folder = scratch(args.work / "runs" / subject.name / f"afl-{number}")
    seeds = scratch(folder / "seeds")
    (seeds / "seed").write_text(subject.seed)
    env = {
        name: "1"
        for name in (
            "AFL_NO_UI", "AFL_SKIP_CPUFREQ", "AFL_NO_AFFINITY", "AFL_FAST_CAL",
            "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
        )
    }
    words = [*NOBODY, "afl-fuzz", "-s", number, "-i", "seeds", "-o", "out", "-c", cmplog]
    words += ["--", plain, *subject.arguments]
    used = search(words, args.time, args.core, f"a-{os.getpid()}", folder, env)
    found = [*folder.glob("out/default/queue/id*"), *folder.glob("out/default/crashes/id*")]
    lines = (folder / "out/default/fuzzer_stats").read_text().splitlines()
    stats = dict(map(str.strip, line.split(":", 1)) for line in lines if ":" in line)
    return found, used, int(stats.get("execs_done", 0))


def branches(subject, inputs, args, name):
    """Branches of the source that these inputs cover together, and how many there are."""
    program = build(subject, "judge", args.work)
    folder = scratch(args.work / "judged" / subject.name / name)
    env = os.environ | {"LLVM_PROFILE_FILE": str(folder / "%1m.profraw"), "HOME": str(folder)}
    for input in inputs:
        words = [str(input) if word == "@@" else word for word in subject.arguments]
        # As root owns the results of searches.
        copy = folder / "input"
        shutil.copyfile(input, copy)
        words = [str(copy) if word == "@@" else word for word in subject.arguments]
        command = [*NOBODY, "timeout", "-s", "KILL", str(REPLAY_LIMIT), program, *words]
        with open(copy, "rb") as stdin:
            subprocess.run(
                command, cwd=folder, env=env, stdin=stdin, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
    profiles = list(folder.glob("*.profraw"))
    merged = folder / "all.profdata"
    subprocess.run(["llvm-profdata-22", "merge", "-o", merged, *profiles], check=True)
    command = ["llvm-cov-22", "export", "--summary-only", f"--instr-profile={merged}", program]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    totals = json.loads(text)["data"][0]["totals"]["branches"]
    return totals["covered"], totals["count"]


def spread(values):
    values = sorted(values)
    middle = statistics.median(values)
    return f"{middle:.0f} ({values[0]:.0f}–{values[-1]:.0f})"


def compare(subject, args):
    seed = args.work / "seeds" / subject.name
    seed.parent.mkdir(parents=True, exist_ok=True)
    seed.write_text(subject.seed)
    start, of = branches(subject, [seed], args, "seed")
    results = {"tarragon": [], "afl": []}
    for number in range(1, args.repeat + 1):
        for name, run in (("tarragon", by_tarragon), ("afl", by_afl)):
            found, used, runs = run(subject, args, number)
            covered, _ = branches(subject, [seed, *found], args, f"{name}-{number}")
            results[name].append((covered, runs, used))
            print(
                f"{subject.name} {name} {number}: {covered} branches, {runs} runs, {used:.1f} s",
                file=sys.stderr, flush=True,
            )
    ours, theirs = ([result[0] for result in results[name]] for name in ("tarragon", "afl"))
    all_ratio = statistics.median(ours) / statistics.median(theirs)
    beyond = (statistics.median(ours) - start) / max(1, statistics.median(theirs) - start)
    runs = [statistics.median(result[1] for result in results[name]) for name in results]
    print(
        f"| {subject.name} | {subject.kind} | {of} | {start} | {spread(ours)} | {spread(theirs)} "
        f"| {all_ratio:.2f} | {beyond:.2f} | {runs[0]:.0f} | {runs[1]:.0f} |",
        flush=True,
    )
    return max(beyond, 0.01)


def main():
    args = arguments()
    if args.list:
        print("\n".join(subject.name for subject in SUBJECTS))
        return
    unknown = set(args.subjects) - {subject.name for subject in SUBJECTS}
    if unknown:
        sys.exit(f"no such subject: {', '.join(sorted(unknown))}; --list names all")
    args.work = args.work.resolve()
    chosen = [s for s in SUBJECTS if not args.subjects or s.name in args.subjects]
    print(
        "| subject | kind | branches | by the seed | tarragon | afl++ | ratio | beyond the seed "
        "| runs | runs of afl++ |\n|---|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    ratios = [compare(subject, args) for subject in chosen]
    print(f"\nGeometric mean beyond the seed: {statistics.geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    main()
