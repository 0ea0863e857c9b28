//! Errors to plant: each is a function of a number `x` that goes wrong for some numbers.
//!
//! A dry build (`-DDRY`) leaves the error out and marks the number on the path, so that inputs with
//! the same leaf do the same. A telling build (`-DTELLING`) says which error comes next.

/// A kind of error. In `body`, `ID` makes names unique.
#[derive(Clone, Copy, Debug)]
pub struct Plant {
    pub name: &'static str,
    /// Declarations before the function.
    pub before: &'static str,
    pub body: &'static str,
}

const fn plant(name: &'static str, body: &'static str) -> Plant {
    Plant { name, before: "", body }
}

const fn with(name: &'static str, before: &'static str, body: &'static str) -> Plant {
    Plant { name, before, body }
}

pub const PLANTS: &[Plant] = &[
    plant("heap write past the end", "u8 *p = malloc(16); p[x % 20] = 1; sink = p[0]; free(p);"),
    plant("heap read past the end", "u8 *p = calloc(1, 13); sink = p[x % 15]; free(p);"),
    plant("heap write before the start", "u8 *p = malloc(8); p[(int)(x % 9) - 1] = 1; free(p);"),
    plant("heap element past the end", "u32 *p = malloc(12); p[x % 4] = 1; sink = p[0]; free(p);"),
    plant("stack write past the end", "u8 a[10]; a[x % 11] = 1; keep(a);"),
    plant("stack read past the end", "u8 a[12]; keep(a); sink = a[x % 14];"),
    plant("stack write before the start", "u8 a[16]; a[(int)(x % 6) - 1] = 1; keep(a);"),
    with("global write past the end", "static u8 g_ID[10];", "g_ID[x % 13] = 1; keep(g_ID);"),
    with("global read past the end", "static const u8 g_ID[5] = {1, 2};", "sink = g_ID[x % 6];"),
    plant(
        "use after free",
        "u8 *p = malloc(8); if (x % 5 == 3) free(p); p[1] = 2; if (x % 5 != 3) free(p);",
    ),
    plant("double free", "u8 *p = malloc(8); keep(p); free(p); if (x % 7 == 2) free(p);"),
    plant("free of the middle", "u8 *p = malloc(8); keep(p); if (x % 6 == 1) p++; free(p);"),
    plant(
        "use after realloc",
        "u8 *p = malloc(8), *q = realloc(p, 999); if (x % 4 == 2) p[0] = 1; else q[0] = 1; \
         free(q);",
    ),
    plant(
        "use after scope",
        "u8 *p, b; { u8 a[4]; keep(a); p = x % 4 == 1 ? a : &b; } *p = 1; keep(&b);",
    ),
    plant("division by zero", "sink = (u32)(100 / (int)(x % 6));"),
    plant("remainder by zero", "sink = 100 % (x % 9);"),
    plant(
        "quotient too large",
        "sink = (u32)((-2147483647 - (int)(x % 2)) / ((int)(x % 3) - 1 | 1));",
    ),
    plant("signed addition", "sink = (u32)(2147483600 + (int)(x % 60));"),
    plant("signed subtraction", "sink = (u32)(-2147483600 - (int)(x % 60));"),
    plant("signed multiplication", "sink = (u32)((int)(x % 256) * 8500000);"),
    plant("signed negation", "sink = (u32)-(-2147483647 - (int)(x % 2));"),
    plant("wide signed addition", "sink = (u32)(9223372036854775800ll + (i64)(x % 11));"),
    plant("shift too far", "sink = 1u << x % 36;"),
    plant("shift of a wide value", "sink = (u32)(1ull >> x % 70);"),
    plant("shift by less than nothing", "sink = 1u << ((int)(x % 9) - 1);"),
    plant("null pointer read", "u32 *p = x % 9 == 4 ? 0 : (u32 *)&sink; sink = *p + 1;"),
    plant("null pointer write", "u32 *p = x % 7 == 5 ? 0 : (u32 *)&sink; *p = 3;"),
    plant(
        "member past its array",
        "struct { u32 a[4], b[4]; } s = {0}; keep(&s); sink = s.a[x % 5];",
    ),
    with(
        "member of a global past its array",
        "static struct { u8 a[6], b[9]; } s_ID;",
        "s_ID.a[x % 8] = 1; keep(&s_ID);",
    ),
    plant("copy past the end", "u8 a[8], b[16] = {0}; keep(b); memcpy(a, b, x % 10); keep(a);"),
    plant("fill past the end", "u8 *p = malloc(8); memset(p, 0, x % 11); keep(p); free(p);"),
    plant(
        "text past the end",
        "char a[4], b[8] = \"abcdefg\"; b[x % 6] = 0; strcpy(a, b); keep(a);",
    ),
    plant(
        "print past the end",
        "char *p = malloc(3); sprintf(p, \"%u\", x % 130); keep(p); free(p);",
    ),
    plant(
        "text without an end",
        "char a[4] = \"abc\"; if (x % 5 == 3) a[3] = 'd'; keep(a); sink = (u32)strlen(a);",
    ),
    plant("array of no size", "u8 a[(int)(x % 5)]; a[0] = 1; keep(a);"),
    plant("abort", "if (x % 11 == 6) abort();"),
];

/// What plants need in the file, once.
pub const SUPPORT: &str = "
static volatile u32 sink;
static void *volatile kept;
__attribute__((noinline)) static void keep(void *p) { kept = p; }
#ifdef TELLING
#define TELL(plant) dprintf(2, \"plant %d\\n\", plant)
#else
#define TELL(plant) (void)0
#endif
";

/// The C text of the plant in the program with this number.
pub fn definition(plant: usize, program: usize) -> String {
    let Plant { name, before, body } = PLANTS[plant];
    let id = format!("{program}_{plant}");
    let (before, body) = (before.replace("ID", &id), body.replace("ID", &id));
    format!(
        "/* {name} */\n{before}\n__attribute__((noinline)) static void plant_{id}(u32 x) {{\n\
         #ifdef DRY\n    m(x);\n#else\n    TELL({plant});\n    {body}\n#endif\n}}\n"
    )
}
