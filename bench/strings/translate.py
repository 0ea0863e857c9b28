"""Writes a .hmp file with sizes as SMT-LIB: grammars are unrolled to the size, as HAMPI does."""

import re

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|\s+|("[^"]*"|\[\'.\'-\'.\'\]|\[\\\d{3}-\\\d{3}\]|\\\d{3}|:=|\.\.|\w+|.)', re.S)


class Untranslatable(Exception):
    pass


def char(code):
    return chr(code) if 32 <= code < 127 and code not in (34, 92) else "\\u{%x}" % code


def literal(text):
    return '"' + "".join(char(ord(c)) for c in text) + '"'


class Translator:
    def __init__(self, text):
        self.tokens = [t for t in TOKEN.findall(text) if t]
        self.at = 0
        self.variables, self.rules, self.regs, self.vals, self.asserts = {}, {}, {}, {}, []
        self.lines, self.memo, self.progress = [], {}, set()
        while self.at < len(self.tokens):
            self.statement()
        self.shortest = self.shortest_lengths()

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, token):
        found = self.at < len(self.tokens) and self.tokens[self.at] == token
        self.at += found
        return found

    def expect(self, token):
        if not self.accept(token):
            raise Untranslatable(f"expected {token}")

    def statement(self):
        word = self.next()
        if word == "var":
            name = self.next()
            self.expect(":")
            least = most = int(self.next())
            if self.accept(".."):
                most = int(self.next())
            self.variables[name] = (least, most)
        elif word == "cfg":
            name = self.next()
            self.expect(":=")
            self.rules[name] = self.alternatives()
        elif word == "reg":
            name = self.next()
            self.expect(":=")
            self.regs[name] = self.regular()
        elif word == "val":
            name = self.next()
            self.expect(":=")
            self.vals[name] = self.value()
        elif word == "assert":
            left, negated, relation = self.value(), self.accept("not"), self.next()
            right = self.regular() if relation == "in" else self.value()
            self.asserts.append((left, negated, relation, right))
        else:
            raise Untranslatable(word)
        self.expect(";")

    def alternatives(self):
        all_of_them, current = [], []
        while self.tokens[self.at] != ";":
            token = self.next()
            if token == "|":
                all_of_them.append(current)
                current = []
            elif token == "(":
                name = self.next()
                self.expect(")")
                current.append(self.repeated(name, self.next()))
            else:
                current.append(self.terminal(token) or ("name", token))
        return all_of_them + [current]

    def repeated(self, name, sign):
        new = f"{name}{sign}"
        one, again = ("name", name), ("name", new)
        self.rules[new] = {"?": [[], [one]], "*": [[], [one, again]], "+": [[one], [one, again]]}[sign]
        return again

    def terminal(self, token):
        if token[0] == '"':
            return ("text", token[1:-1])
        if token[0] == "\\":
            return ("text", chr(int(token[1:])))
        if token[0] == "[":
            ends = re.findall(r"'(.)'|\\(\d{3})", token)
            return ("range", *[a or chr(int(b)) for a, b in ends])
        return None

    def regular(self):
        token = self.next()
        if self.terminal(token):
            return self.terminal(token)
        if not self.accept("("):
            return ("name", token)
        if token in ("fix", "fixsize"):
            name = self.next()
            self.expect(",")
            size = int(self.next())
            self.expect(")")
            return ("fix", name, size)
        parts = []
        while not self.accept(")"):
            parts.append(self.regular())
            self.accept(",")
        return (token, parts)

    def value(self):
        token = self.next()
        if token[0] in '"\\':
            return self.terminal(token)
        if token == "concat" and self.accept("("):
            parts = []
            while not self.accept(")"):
                parts.append(self.value())
                self.accept(",")
            return ("concat", parts)
        if self.accept("["):
            offset = int(self.next())
            self.expect(":")
            length = int(self.next())
            self.expect("]")
            return ("slice", token, offset, length)
        return ("name", token)

    def shortest_lengths(self):
        best = {name: None for name in self.rules}
        changed = True
        while changed:
            changed = False
            for name, alternatives in self.rules.items():
                for alternative in alternatives:
                    parts = [self.length(symbol, best) for symbol in alternative]
                    if None not in parts and (best[name] is None or sum(parts) < best[name]):
                        best[name], changed = sum(parts), True
        return best

    def length(self, symbol, best):
        return len(symbol[1]) if symbol[0] == "text" else 1 if symbol[0] == "range" else best[symbol[1]]

    def leaf(self, symbol, size):
        if symbol[0] == "text":
            return f"(str.to_re {literal(symbol[1])})" if len(symbol[1]) == size else None
        if symbol[0] == "range":
            return f"(re.range {literal(symbol[1])} {literal(symbol[2])})" if size == 1 else None
        return self.fixed(symbol[1], size)

    def fixed(self, name, size):
        """The words of a nonterminal of exactly this size."""
        if self.shortest[name] is None or self.shortest[name] > size:
            return None
        if size == 0:
            return '(str.to_re "")'
        key = (name, size)
        if key in self.memo:
            return self.memo[key]
        if key in self.progress:
            raise Untranslatable("cyclic")
        self.progress.add(key)
        options = []
        for alternative in self.rules[name]:
            options += self.sequences(alternative, size, key)
        self.progress.discard(key)
        self.memo[key] = self.define(union(options), f"L{len(self.memo)}")
        return self.memo[key]

    def sequences(self, symbols, size, key):
        """One expression for each way to split the size over the symbols."""
        if not symbols:
            return ['(str.to_re "")'] if size == 0 else []
        least = [self.length(symbol, self.shortest) for symbol in symbols]
        if None in least or sum(least) > size:
            return []
        first, rest, options = symbols[0], symbols[1:], []
        for length in range(least[0], size - sum(least[1:]) + 1):
            if first[0] == "name" and (first[1], length) == key:
                continue
            tails = self.sequences(rest, size - length, key)
            head = self.leaf(first, length) if tails else None
            if head:
                options += [head if tail == '(str.to_re "")' else f"(re.++ {head} {tail})" for tail in tails]
        return options

    def define(self, body, name):
        if body is None:
            return None
        self.lines.append(f"(define-fun {name} () RegLan {body})")
        return name

    def expression(self, regular, sizes):
        kind = regular[0]
        if kind in ("text", "range"):
            return self.leaf(regular, len(regular[1]))
        if kind == "name" and regular[1] in self.regs:
            return self.expression(self.regs[regular[1]], sizes)
        if kind == "name":
            return union([x for x in (self.fixed(regular[1], size) for size in sizes) if x]) or "re.none"
        if kind == "fix":
            return self.fixed(regular[1], regular[2]) or "re.none"
        parts = [self.expression(part, sizes) for part in regular[1]]
        operator = {"or": "re.union", "concat": "re.++", "star": "re.*", "and": "re.inter", "not": "re.comp"}[kind]
        return parts[0] if len(parts) == 1 and kind in ("or", "concat", "and") else f"({operator} {' '.join(parts)})"

    def string(self, value):
        if value[0] == "text":
            return literal(value[1])
        if value[0] == "slice":
            return f"(str.substr {value[1]} {value[2]} {value[3]})"
        if value[0] == "concat":
            return f"(str.++ {' '.join(self.string(part) for part in value[1])})" if len(value[1]) > 1 \
                else self.string(value[1][0])
        return value[1] if value[1] in self.variables else self.string(self.vals[value[1]])

    def sizes(self, value):
        """All lengths that a value may have."""
        if value[0] == "text":
            return [len(value[1])]
        if value[0] == "slice":
            return [value[3]]
        if value[0] == "concat":
            total = {0}
            for part in value[1]:
                total = {a + b for a in total for b in self.sizes(part)}
            return sorted(total)
        if value[1] in self.variables:
            least, most = self.variables[value[1]]
            return list(range(least, most + 1))
        return self.sizes(self.vals[value[1]])

    def translate(self):
        constraints = []
        for name, (least, most) in self.variables.items():
            constraints.append(f"(<= {least} (str.len {name}) {most})")
        for left, negated, relation, right in self.asserts:
            if relation == "in":
                body = f"(str.in_re {self.string(left)} {self.expression(right, self.sizes(left))})"
            elif relation == "contains":
                body = f"(str.contains {self.string(left)} {self.string(right)})"
            else:
                body = f"(= {self.string(left)} {self.string(right)})"
            constraints.append(f"(not {body})" if negated else body)
        declarations = [f"(declare-const {name} String)" for name in self.variables]
        asserts = [f"(assert {constraint})" for constraint in constraints]
        return "\n".join(["(set-logic QF_SLIA)"] + declarations + self.lines + asserts + ["(check-sat)"]) + "\n"


def union(options):
    options = list(dict.fromkeys(options))
    if not options:
        return None
    return options[0] if len(options) == 1 else f"(re.union {' '.join(options)})"


def translate(text):
    try:
        result = Translator(text).translate()
    except (KeyError, IndexError, ValueError, RecursionError) as error:
        raise Untranslatable(str(error)) from error
    if len(result) > 3_000_000:
        raise Untranslatable("too large")
    return result
