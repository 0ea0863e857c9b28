//! Types are read from what clang writes, guessed lengths included, and spelled as C takes them.

use std::io::Write as _;
use std::process::{Command, Stdio};

use unit::interface::{Length, Role, roles};
use unit::{Bounds, Function, Harness, Origin, Program, Subject, Type};

/// Clang's object for a source.
fn object(source: &str) -> Vec<u8> {
    let mut child = Command::new("clang-22")
        .args(["-g", "-gdwarf-5", "-O1", "-Xclang", "-disable-llvm-passes", "-w"])
        .args(["-x", "c", "-c", "-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("clang starts");
    child.stdin.take().expect("a pipe").write_all(source.as_bytes()).expect("written");
    child.wait_with_output().expect("ends").stdout
}

fn program(source: &str) -> Program {
    let mut program = Program::default();
    unit::dwarf::read(&object(source), &mut program).expect("read");
    program
}

fn function<'p>(program: &'p Program, name: &str) -> &'p Function {
    program.function(name).unwrap_or_else(|| panic!("{name}"))
}

const SOURCE: &str = "\
    typedef unsigned long size_t;\n\
    enum color { RED, GREEN = -5 };\n\
    struct node;\n\
    typedef struct node *list;\n\
    struct inner { unsigned char a : 3, b : 5; };\n\
    struct node { int value[2][3]; list next; union { int i; float f; }; struct inner bits; };\n\
    struct __attribute__((packed)) tight { char c; int i; };\n\
    extern int outside(const char *);\n\
    int all(list l, enum color c, int (*f)(void *, double), const char *const *names,\n\
            struct tight t, _Bool b, long double d) { return outside(*names); }\n\
    void sums(const int *a, int *b, size_t n, char *to, int to_len) {}\n\
    void packs(unsigned char *dest, size_t *dest_len, const char *text, int other) {}\n\
    static const char *find(const char *s, int c, size_t n) { return s; }\n\
    void *kept = (void *)find;\n";

#[test]
fn prototypes_are_those_of_the_source() {
    let program = program(SOURCE);
    let prototype = |name| program.prototype(function(&program, name));
    assert_eq!(
        prototype("all"),
        "int all(list l, enum color c, int (*f)(void *, double), const char *const *names, struct \
         tight t, _Bool b, long double d)"
    );
    assert_eq!(
        prototype("sums"),
        "void sums(const int *a, int *b, size_t n, char *to, int to_len)"
    );
    let outside = function(&program, "outside");
    assert!(!outside.is_defined && outside.is_external);
    assert_eq!(program.prototype(outside), "int outside(const char *)");
    assert!(!function(&program, "find").is_external);
}

#[test]
fn layouts_are_those_of_the_compiler() {
    let program = program(SOURCE);
    let list = function(&program, "all").signature.parameters[0].ty;
    let node = program.pointee(list).expect("a pointer");
    assert_eq!(program.size(node), 40);
    let Type::Record(record) = program.resolved(node) else { panic!("a struct") };
    let offsets: Vec<u64> = record.fields.iter().map(|field| field.offset).collect();
    assert_eq!(offsets, [0, 24, 32, 36]);
    assert_eq!(program.size(record.fields[0].ty), 24, "an array of arrays");
    let Type::Record(bits) = program.resolved(record.fields[3].ty) else { panic!("a struct") };
    let bits: Vec<_> = bits.fields.iter().map(|field| field.bits).collect();
    assert_eq!(bits, [Some((0, 3)), Some((3, 5))]);
}

#[test]
fn lengths_are_told_by_name_and_type() {
    let program = program(SOURCE);
    let roles = |name| roles(&program, function(&program, name), &[]).expect("roles");
    use Length::{Behind, Parameter};
    use Role::{Array, LengthBehind, Value};
    assert_eq!(
        roles("sums"),
        [Array(Parameter(2)), Array(Parameter(2)), Role::Length, Array(Parameter(4)), Role::Length]
    );
    assert_eq!(roles("packs"), [Array(Behind(1)), LengthBehind, Value, Value]);
    assert_eq!(roles("find"), [Array(Parameter(2)), Value, Role::Length]);
}

/// The declarations hold assertions about sizes, which clang checks.
#[test]
fn declarations_and_harnesses_compile() {
    let program = program(SOURCE);
    let subject = |name| {
        let function = function(&program, name).clone();
        let roles = roles(&program, &function, &[]).expect("roles");
        Subject { function, roles, against: None }
    };
    let harness = Harness {
        origin: Origin::Objects,
        subjects: vec![subject("all"), subject("sums"), subject("packs")],
        globals: Vec::new(),
        stubs: vec![function(&program, "outside").clone()],
        bounds: Bounds::default(),
        assume: Vec::new(),
        check: Vec::new(),
        tolerance: 0.0,
    };
    let text = harness.text(&program);
    assert!(text.contains("_Static_assert(sizeof(struct tight) == 5"), "{text}");
    assert!(!object(&text).is_empty(), "clang takes it:\n{text}");
    let tape = harness.tape(&program);
    assert!((32..=768).contains(&tape), "{tape}");
}

#[test]
fn damaged_debug_information_is_an_error() {
    let good = object(SOURCE);
    assert!(unit::dwarf::read(b"no object", &mut Program::default()).is_err());
    for at in (64..good.len()).step_by(97) {
        let mut bad = good.clone();
        bad[at] ^= 0x55;
        // Whatever comes of it, it is no panic.
        let _ = unit::dwarf::read(&bad, &mut Program::default());
    }
}
