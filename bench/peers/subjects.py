"""The subjects: how each is built and what of it is run. Data only.

Commands are for a shell in the unpacked source, with CC, CXX and CFLAGS set and HERE as this
folder. `@@` in the arguments stands for the file with the input, which is the standard input
otherwise.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    name: str
    # Of the Debian source package.
    package: str
    # What kind of program it is: the benchmark wants some of each.
    kind: str
    build: str
    program: str
    arguments: tuple = ()
    seed: str = "a\n"
    # Beside this folder; empty if the comparison is without.
    grammar: str = ""


QUIET = "--disable-shared --disable-dependency-tracking"

SUBJECTS = [
    Subject(
        "libcue", "libcue", "flex/bison",
        "flex -o scanner.c cue_scanner.l && bison -d -o cue_parser.c cue_parser.y && "
        "$CC $CFLAGS -w -I. -o cue $HERE/cue_main.c *.c",
        "cue", seed='FILE "a" WAVE\n',
    ),
    Subject(
        "bc", "bc", "flex/bison",
        "./configure --with-readline=no && make MAKEINFO=true",
        "bc/bc", seed="1\n",
    ),
    Subject(
        "awk", "original-awk", "flex/bison",
        "bison -d awkgram.y && make CC=\"$CC\" HOSTCC=clang-22 CFLAGS=\"$CFLAGS\" YACC='bison -d'",
        "a.out", ("-f", "@@"), seed="{print}\n",
    ),
    Subject(
        "cuetools", "cuetools", "flex/bison",
        f"autoreconf -fi && ./configure {QUIET} && make",
        "src/tools/cueprint", seed='FILE "a" WAVE\n',
    ),
    Subject(
        "lua", "lua5.4", "interpreter",
        "make linux CC=\"$CC -std=gnu99 $CFLAGS\"",
        "src/lua", ("-",), seed="x=1\n",
    ),
    Subject(
        "mujs", "mujs", "interpreter",
        "make release CC=\"$CC $CFLAGS\" HAVE_READLINE=no",
        "build/release/mujs", seed="1\n",
    ),
    Subject(
        "duktape", "duktape", "interpreter",
        "$CC $CFLAGS -w -DDUK_CMDLINE_PRINTALERT_SUPPORT -I src -I extras/print-alert -o duk "
        "src/duktape.c examples/cmdline/duk_cmdline.c extras/print-alert/duk_print_alert.c -lm",
        "duk", ("@@",), seed="1\n",
    ),
    Subject(
        "tinyscheme", "tinyscheme", "interpreter",
        "$CC $CFLAGS -w -DSTANDALONE=1 -DUSE_DL=0 -DUSE_INTERFACE=0 -o scheme scheme.c -lm",
        "scheme", ("@@",), seed="1\n",
    ),
    Subject(
        "jimtcl", "jimtcl", "interpreter",
        "CCACHE=none ./configure --disable-ssl --full && make",
        "jimsh", ("@@",), seed="set a 1\n",
    ),
    Subject(
        "cjson", "cjson", "format",
        "$CC $CFLAGS -w -I. -o json $HERE/../diff/json_main.c cJSON.c -lm",
        "json", seed="1\n",
    ),
    Subject(
        "yaml", "libyaml", "format",
        "./bootstrap && ./configure --disable-shared && make -C src && "
        "$CC $CFLAGS -w -I include -o run-parser tests/run-parser.c src/.libs/libyaml.a",
        "run-parser", ("@@",), seed="a: 1\n",
    ),
    Subject(
        "expat", "expat", "format",
        "cmake -S expat -B build -DCMAKE_BUILD_TYPE=None -DEXPAT_BUILD_DOCS=OFF "
        "-DEXPAT_SHARED_LIBS=OFF -DEXPAT_BUILD_TESTS=OFF -DEXPAT_BUILD_EXAMPLES=OFF && "
        "make -C build",
        "build/xmlwf/xmlwf", ("@@",), seed="<a/>\n",
    ),
    Subject(
        "sqlite", "sqlite3", "large",
        "./configure --disable-tcl --disable-shared && make sqlite3.c shell.c && "
        "$CC $CFLAGS -w -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_THREADSAFE=0 -o shell "
        "sqlite3.c shell.c -lm",
        "shell", seed="select 1;\n",
    ),
    Subject(
        "xmllint", "libxml2", "large",
        "autoreconf -fi && ./configure --disable-shared --without-python --without-zlib "
        "--without-lzma --without-threads && make xmllint",
        "xmllint", ("@@",), seed="<a/>\n",
    ),
]
