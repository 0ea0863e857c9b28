//! The packages: how each is built and tested, and what of it is run. Data only.

/// Commands are for a shell in the package's folder, with `CC` and `CXX` set.
pub struct Package {
    /// Of the Debian source package.
    pub name: &'static str,
    pub build: &'static str,
    /// Runs the package's own tests; what it prints must not depend on the compiler. Empty if the
    /// source has none.
    pub test: &'static str,
    /// From the package's folder.
    pub program: &'static str,
    /// `@@` stands for the file with the input, which is the standard input otherwise.
    pub arguments: &'static [&'static str],
    pub seed: &'static str,
    /// On these the traced variant must print what the plain program prints.
    pub inputs: &'static [&'static str],
    pub sample: Sample,
}

/// A text of any length that the program works through to its end.
pub struct Sample {
    pub start: &'static str,
    pub unit: &'static str,
    pub end: &'static str,
}

impl Sample {
    /// At least `len` bytes.
    pub fn text(&self, len: usize) -> Vec<u8> {
        [self.start, &self.unit.repeat(len.div_ceil(self.unit.len())), self.end]
            .concat()
            .into_bytes()
    }
}

const JSON: Sample = Sample {
    start: "[",
    unit: "{\"name\": \"a text\", \"list\": [1, -2.5, true, null], \"deep\": {\"\\u0041\": [[], {}]}},\n",
    end: "0]\n",
};

pub const PACKAGES: [Package; 13] = [
    Package {
        name: "bc",
        build: "./configure --with-readline=no && make MAKEINFO=true",
        test: "for t in Test/*.b; do echo $t; ./bc/bc -l $t < /dev/null 2>&1 | cksum; done",
        program: "bc/bc",
        arguments: &[],
        seed: "1\n",
        inputs: &[
            "2^100\nscale=20\n1/7\n",
            "define f(n) { if (n<2) return 1; return n*f(n-1) }\nf(20)\n",
            "(\n",
        ],
        sample: Sample { start: "", unit: "a=a+1*2;b[3]=a;if(a>3)a=0\n", end: "a\n" },
    },
    Package {
        name: "lua5.4",
        build: "make linux CC=\"$CC -std=gnu99\"",
        test: "make test",
        program: "src/lua",
        arguments: &["-"],
        seed: "x=1\n",
        inputs: &[
            "local t={} for i=1,50 do t[i]=(i*7919)%101 end table.sort(t) \
             print(table.concat(t,','))",
            "print(pcall(error,'e'), 7//2, 2^53, '10'+5, ('a,b'):gsub(',',';'), \
             string.format('%5.2f',3.14159))",
            "print(pcall(function() local a; return a.b end)) goto x",
        ],
        sample: Sample {
            start: "",
            unit: "do local a = {1, 'b', c = 2.5 + 3}; if a[1] > 2 then x = a.c end end\n",
            end: "",
        },
    },
    Package {
        name: "jq",
        build: "autoreconf -fi && ./configure --without-oniguruma --disable-docs \
                --disable-valgrind \
            --disable-maintainer-mode && make",
        test: "make check 2>&1 | grep -E '^(PASS|FAIL|SKIP|XFAIL|ERROR|# )'",
        program: "jq",
        arguments: &["."],
        seed: "1",
        inputs: &["{\"a\": [1, 2.5, null, \"\\u00e9\"]}", "[1, 2", "nul", "\"a\\nb\" 3 []"],
        sample: JSON,
    },
    Package {
        name: "mujs",
        build: "make CC=\"$CC\" HAVE_READLINE=no",
        test: "",
        program: "build/release/mujs",
        arguments: &[],
        seed: "1",
        inputs: &[
            "var a = [3, 1, 2]; a.sort(); print(a, JSON.stringify({b: a}), /x(.)/.exec('axyz'))",
            "try { null.x } catch (e) { print(e) } for (var i in {p: 1, q: 2}) print(i)",
            "print(1.5e3.toFixed(2), parseInt('12z'), 'abc'.replace('b', 'd'));)",
        ],
        sample: Sample {
            start: "",
            unit: "var a = {b: [1, 'c', 2.5 + 3]}; if (a.b[0] > 2) { a = 3; }\n",
            end: "",
        },
    },
    Package {
        name: "expat",
        build: "cmake -S expat -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DEXPAT_BUILD_DOCS=OFF \
                && make -C build",
        test: "build/tests/runtests | tail -1; build/tests/runtestspp | tail -1",
        program: "build/xmlwf/xmlwf",
        arguments: &[],
        seed: "<a/>",
        inputs: &[
            "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e 'x'>]><a b='1'>t&e;<c/></a>",
            "<a><b></a>",
            "<a>&undefined;</a>",
        ],
        sample: Sample {
            start: "<a>",
            unit: "<item key='value' n=\"2\">some text &amp; more<empty/></item>\n",
            end: "</a>",
        },
    },
    Package {
        name: "zlib",
        build: "./configure && make",
        test: "make test 2>&1 | grep -E 'OK|FAILED|hello|uncompress|inflate|gz'",
        program: "minigzip",
        arguments: &[],
        seed: "a",
        inputs: &[
            "",
            "aaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbb",
            "The quick brown fox jumps over the lazy dog.",
        ],
        sample: Sample {
            start: "",
            unit: "some text, and some more text; all work and no play\n",
            end: "",
        },
    },
    Package {
        name: "yajl",
        build: "cmake -S . -B build && make -C build",
        test: "(cd test/parsing && ./run_tests.sh ../../build/test/parsing/yajl_test) | tail -1",
        program: "build/yajl-2.1.0/bin/json_reformat",
        arguments: &[],
        seed: "1",
        inputs: &["{\"a\": [1, 2.5, null, \"\\u00e9\"]}", "[1, 2", "nul", "[\"a\\nb\", -1e5, []]"],
        sample: JSON,
    },
    Package {
        name: "jansson",
        build: "autoreconf -fi && ./configure && make && make -C test check TESTS=",
        test: "make check 2>&1 | grep -E '^(PASS|FAIL|SKIP|XFAIL|ERROR|# )'",
        program: "test/bin/json_process",
        arguments: &["--env"],
        seed: "[]",
        inputs: &["{\"a\": [1, 2.5, null, \"\\u00e9\"]}", "[1, 2", "nul", "[\"a\\nb\", -1e5, []]"],
        sample: JSON,
    },
    Package {
        name: "libyaml",
        build: "./bootstrap && ./configure && make && make -C tests check TESTS=",
        test: "make check 2>&1 | grep -E '^(PASS|FAIL|SKIP|XFAIL|ERROR|# )'",
        program: "tests/.libs/run-parser-test-suite",
        arguments: &["@@"],
        seed: "a",
        inputs: &[
            "a: [1, &x b, *x]\nc: |\n  text\n---\n- d\n",
            "{a: b",
            "%YAML 1.1\n--- !!str 'x'\n",
        ],
        sample: Sample {
            start: "",
            unit: "- name: a text\n  list: [1, \"two\", {three: 4}]\n  more: |\n    lines\n",
            end: "",
        },
    },
    Package {
        name: "cmark",
        build: "cmake -S . -B build && make -C build",
        test: "(cd build && ctest) | sed -nE 's/^ *[0-9]+\\/[0-9]+ Test *#[0-9]+: ([a-z_]+) \
               .*(Passed|Failed).*/\\1 \\2/p'",
        program: "build/src/cmark",
        arguments: &[],
        seed: "a\n",
        inputs: &[
            "# T\n\n* a *b* `c`\n  1. d\n\n> [e](f \"g\") <h@i.org>\n",
            "```\ncode\n",
            "[a]: b\n\n[a]&copy;\n",
        ],
        sample: Sample {
            start: "",
            unit: "# Title\n\nSome *text* with `code` and a [link](to).\n\n* item\n* item \
                   **two**\n\n",
            end: "",
        },
    },
    Package {
        name: "mawk",
        build: "./configure && make",
        test: "make check 2>&1 | grep -vE 'Makefile|make|^\\./|clang|tarragon|/'",
        program: "mawk",
        arguments: &["-f", "@@"],
        seed: "{}",
        inputs: &[
            "BEGIN { for (i = 0; i < 3; i++) a[i] = i * i; print a[2], length(\"abc\"), toupper(\"x\") }",
            "BEGIN { print substr(\"hello\", 2, 3) ~ /l+/ ; printf \"%d %s\\n\", 3.7, \"z\" }",
            "BEGIN {",
        ],
        sample: Sample {
            start: "",
            unit: "NR == 1 { x = 1 + 2; if (x > 2) { y[x] = \"text\" } }\n",
            end: "",
        },
    },
    Package {
        name: "m4",
        build: "./configure && make",
        test: "make check 2>&1 | grep -E '^(PASS|FAIL|SKIP|XFAIL|ERROR|# |All checks|Failed \
               checks)'",
        program: "src/m4",
        arguments: &[],
        seed: "a\n",
        inputs: &[
            "define(`f', `<$1>')f(x) eval(2*3) ifelse(a, a, yes, no)\n",
            "changequote([,])[a]len([abc])\n",
            "define(\n",
        ],
        sample: Sample {
            start: "define(`f', `<$1>')",
            unit: "f(text) and ifelse(a, b, no, yes) `quoted' eval(1+2)\n",
            end: "",
        },
    },
    Package {
        name: "cuetools",
        build: "autoreconf -fi && ./configure && make",
        test: "",
        program: "src/tools/cueprint",
        arguments: &["-i", "cue"],
        seed: "FILE a WAVE\n",
        inputs: &[
            "FILE \"a b.wav\" WAVE\n  TRACK 01 AUDIO\n    TITLE \"x\"\n    INDEX 01 00:00:00\n",
            "CATALOG 1234567890123\nFILE a BINARY\nTRACK 01 MODE1/2352\nFLAGS PRE DCP\nINDEX 00 \
             00:01:02\nINDEX 01 00:03:04\n",
            "TRACK 01\n",
        ],
        sample: Sample {
            start: "FILE a WAVE\n",
            unit: "TRACK 01 AUDIO\nTITLE \"some text\"\nPERFORMER \"b\"\nINDEX 01 00:00:00\n",
            end: "",
        },
    },
];

/// Functions that take an input, which their packages give to fuzzers.
pub const HARNESSES: [Package; 2] = [
    Package {
        name: "cjson",
        build: "$CC -g -O2 -fsanitize=fuzzer -I. -o harness cJSON.c fuzzing/cjson_read_fuzzer.c",
        program: "harness",
        seed: "1111[1]",
        ..HARNESS
    },
    Package {
        name: "md4c",
        build: "$CC -g -O2 -fsanitize=fuzzer -Isrc -o harness src/*.c test/fuzzers/fuzz-mdhtml.c",
        program: "harness",
        seed: "12345678a\n",
        ..HARNESS
    },
];

const HARNESS: Package = Package {
    name: "",
    build: "",
    test: "",
    program: "",
    arguments: &[],
    seed: "",
    inputs: &[],
    sample: Sample { start: "", unit: "a", end: "" },
};
