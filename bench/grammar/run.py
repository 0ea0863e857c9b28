#!/usr/bin/env python3
"""The grammar engine next to the peers that pip offers, in one run, on one core.

    pip install grammarinator fandango-fuzzer isla-solver lark llguidance
    cargo build --release -p grammar-cli --example bench_grammar
    python3 bench/grammar/run.py TARGET/release/examples/bench_grammar [JavaScriptParser.g4]

Peers that are not installed are left out and said so. All times are processor times, so that other work on the
machine does not count. Prints a table with ratios; RESULTS.md keeps the record of a run.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EXPR_G4 = """grammar Expr;
e : e '+' t | e '-' t | t ;
t : t '*' f | t '/' f | f ;
f : '(' e ')' | '-' f | N ;
N : [0-9]+ | [a-z] ;
"""
EXPR_BNF = {
    "<start>": ["<e>"],
    "<e>": ["<e>+<t>", "<e>-<t>", "<t>"],
    "<t>": ["<t>*<f>", "<t>/<f>", "<f>"],
    "<f>": ["(<e>)", "-<f>", "<n>"],
    "<n>": ["<d><n>", "<d>", "a", "x"],
    "<d>": list("0123456789"),
}
JSON_LARK = r"""
start: value
value: object | array | STRING | NUMBER | "true" | "false" | "null"
object: "{" (pair ("," pair)*)? "}"
pair: STRING ":" value
array: "[" (value ("," value)*)? "]"
STRING: /"([^"\\]|\\.)*"/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
"""
JSON_TEXT = '{"key":[1,22,-3.5e7,[]],"other":"some text","n":null},' * 400


def children_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def grammarinator():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "Expr.g4")
        open(path, "w").write(EXPR_G4)
        subprocess.run(["grammarinator-process", path, "-o", folder], check=True, capture_output=True)
        count = 3000
        before = children_time()
        out = subprocess.run(
            ["grammarinator-generate", "ExprGenerator.ExprGenerator", "-n", str(count), "-d", "20", "--stdout",
             "--sys-path", folder, "-r", "e"], check=True, capture_output=True).stdout
        return len(out) / 1e6 / (children_time() - before)


def isla():
    from isla.solver import ISLaSolver
    solver = ISLaSolver(EXPR_BNF, max_number_free_instantiations=100)
    size, start = 0, time.process_time()
    for _ in range(200):
        try:
            size += len(str(solver.solve()))
        except StopIteration:  # it has no more solutions
            break
    return size / 1e6 / (time.process_time() - start)


def fandango():
    spec = "".join(
        f"{name} ::= " + " | ".join(fan_alternative(a) for a in alternatives) + "\n"
        for name, alternatives in EXPR_BNF.items())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "expr.fan")
        open(path, "w").write(spec)
        before = children_time()
        out = subprocess.run(["fandango", "fuzz", "-f", path, "-n", "200"], check=True, capture_output=True).stdout
        return len(out) / 1e6 / (children_time() - before)


def fan_alternative(text):
    parts, rest = [], text
    while rest:
        if rest.startswith("<") and ">" in rest:
            name, rest = rest[: rest.index(">") + 1], rest[rest.index(">") + 1:]
            parts.append(name)
        else:
            parts.append(repr(rest[0]))
            rest = rest[1:]
    return " ".join(parts)


def lark(parser):
    import lark as module
    reader = module.Lark(JSON_LARK, parser=parser)
    text = "[" + JSON_TEXT[:-1] + "]"
    text = text if parser == "lalr" else text[:2000][: text[:2000].rindex("},") + 1] + "]"
    start = time.process_time()
    reader.parse(text)
    return (time.process_time() - start) * 1e6 / len(text)


def llguidance():
    import llguidance as module
    tokenizer = module.LLTokenizer("byte")
    matcher = module.LLMatcher(tokenizer, module.LLMatcher.grammar_from_lark(JSON_LARK))
    text = ("[" + JSON_TEXT[:-1] + "]").encode()
    start = time.process_time()
    taken = matcher.try_consume_tokens(list(text))
    assert taken == len(text), f"{taken} of {len(text)} bytes"
    return (time.process_time() - start) * 1e6 / len(text)


def attempt(name, measure):
    try:
        return measure()
    except Exception as error:  # a peer that is missing or broken is reported, not fatal
        print(f"left out: {name}: {type(error).__name__}: {str(error)[:100]}")
        return None


def main():
    ours = json.loads(subprocess.run([sys.argv[1], os.path.join(HERE, "grammars"), *sys.argv[2:3]], check=True,
                                     capture_output=True, text=True).stdout)
    print("| Tarragon | value |\n|---|---|")
    for name, value in ours.items():
        shown = ", ".join(f"{k} {v:.3g}" for k, v in value.items()) if isinstance(value, dict) else f"{value:.3g}"
        print(f"| {name} | {shown} |")
    sample = ours["sample MB/s expr size 200"]
    check = ours["parse us/B json records 1 MB"]["check_first"]
    tree = ours["parse us/B json records 1 MB"]["tree"]
    print("\n| peer | value | Tarragon | ratio |\n|---|---|---|---|")
    for name, measure in [("Grammarinator", grammarinator), ("ISLa", isla), ("Fandango", fandango)]:
        value = attempt(name, measure)
        if value:
            print(f"| {name}, random expressions, MB/s | {value:.4g} | {sample:.3g} | {sample / value:.3g}x |")
    for name, measure, mine in [("Lark LALR, JSON with tree, µs/byte", lambda: lark("lalr"), tree),
                                ("Lark Earley, JSON with tree, µs/byte", lambda: lark("earley"), tree),
                                ("llguidance, JSON, µs/byte", llguidance, check)]:
        value = attempt(name, measure)
        if value:
            print(f"| {name} | {value:.4g} | {mine:.3g} | {value / mine:.3g}x |")


main()
