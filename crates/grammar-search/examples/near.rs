use std::path::Path;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let read = grammar_formats::read_path(Path::new(&a[1]), None, a.get(3).map(Path::new)).unwrap();
    let language = grammar::language::Language::new(read.grammar).unwrap();
    let mut l = grammar::lift::Lifter::new(&language).unwrap();
    let input = a[2].replace("\\n", "\n");
    println!("{:?}", l.lift(input.as_bytes()).map(|l| l.tokens().len()));
    for t in 0..10 {
        for n in l.neighbours(input.as_bytes(), t) {
            println!("{t} {:?} {}", String::from_utf8_lossy(&n), l.is_sentence(&n));
        }
    }
}
