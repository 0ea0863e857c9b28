//! What the words that go to the linker (`-Wl,` and `-Xlinker`) mean for linking again.
//!
//! Options that write further files, print, strip or tune the output are left out; the rest is
//! kept.

use crate::arguments::Opt;

#[derive(Debug, PartialEq, Eq)]
pub enum LinkerWord {
    Flag(String),
    Valued(String, String),
    /// An option that names a file to read.
    OfFile(String, String),
    SearchDirectory(String),
    Library(String),
    Input(String),
}

/// Joins words across options: `-Xlinker -rpath -Xlinker DIR`.
#[derive(Default)]
pub struct LinkerWords {
    waiting: Option<String>,
}

impl LinkerWords {
    pub fn concerns(&self, option: &Opt) -> bool {
        option.name == "-Xlinker" || option.name.starts_with("-Wl,")
    }

    pub fn of_option(&mut self, option: &Opt) -> Vec<LinkerWord> {
        let words: Vec<String> = match option.name.strip_prefix("-Wl,") {
            Some(list) => list.split(',').map(str::to_owned).collect(),
            None if option.name == "-Xlinker" => {
                option.value.iter().map(|value| value.to_string_lossy().into_owned()).collect()
            }
            None => Vec::new(),
        };
        words.into_iter().filter_map(|word| self.word(word)).collect()
    }

    fn word(&mut self, word: String) -> Option<LinkerWord> {
        if let Some(option) = self.waiting.take() {
            return valued(option, word);
        }
        if !word.starts_with('-') {
            return Some(LinkerWord::Input(word));
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        match (value, joined(&word)) {
            (Some(value), _) if takes_value(name) => valued(name.to_owned(), value.to_owned()),
            (None, _) if takes_value(name) => {
                self.waiting = Some(word);
                None
            }
            (_, Some((name, value))) => valued(name.to_owned(), value.to_owned()),
            _ if is_dropped(name) => None,
            _ => Some(LinkerWord::Flag(word)),
        }
    }
}

/// Single letters joined to their value.
fn joined(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_at_checked(2)?;
    let ours = matches!(name, "-l" | "-L" | "-T" | "-z" | "-u" | "-y" | "-h" | "-m" | "-R");
    let is_long = ["-Tbss", "-Tdata", "-Ttext"].iter().any(|long| word.starts_with(long));
    (ours && !value.is_empty() && !is_long).then_some((name, value))
}

fn valued(option: String, value: String) -> Option<LinkerWord> {
    match bare(&option) {
        "l" | "library" => Some(LinkerWord::Library(value)),
        "L" | "library-path" => Some(LinkerWord::SearchDirectory(value)),
        name if listed(OF_FILES, name) => Some(LinkerWord::OfFile(option, value)),
        name if listed(DROPPED_WITH_VALUE, name) => None,
        _ => Some(LinkerWord::Valued(option, value)),
    }
}

const OF_FILES: &str =
    "T script version-script dynamic-list export-dynamic-symbol-list retain-symbols-file";
const DROPPED_WITH_VALUE: &str = "Map plugin plugin-opt dependency-file y trace-symbol out-implib \
    symbol-ordering-file call-graph-ordering-file mllvm o output";
const KEPT_WITH_VALUE: &str = "l library L library-path rpath rpath-link soname h z m e entry u \
                               undefined I \
    dynamic-linker defsym wrap init fini b format R just-symbols F filter f auxiliary \
    section-start Tbss Tdata Ttext \
    Ttext-segment G A Y require-defined export-dynamic-symbol exclude-libs image-base assert \
    sysroot";

fn takes_value(option: &str) -> bool {
    [OF_FILES, DROPPED_WITH_VALUE, KEPT_WITH_VALUE].iter().any(|table| listed(table, bare(option)))
}

fn is_dropped(option: &str) -> bool {
    const EXACT: &str = "s S x X t v V M q d strip-all strip-debug discard-all discard-locals \
                         trace verbose version \
        cref print-map print-gc-sections no-print-gc-sections stats fatal-warnings build-id \
        gdb-index emit-relocs \
        compress-debug-sections icf threads no-threads time-trace reproduce repro orphan-handling";
    const PREFIXES: &str = "O lto- thinlto- plugin-opt warn- opt-remarks";
    let name = bare(option);
    listed(EXACT, name) || PREFIXES.split_whitespace().any(|prefix| name.starts_with(prefix))
}

fn bare(option: &str) -> &str {
    option.trim_start_matches('-')
}

fn listed(table: &str, name: &str) -> bool {
    table.split_whitespace().any(|listed| listed == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Invocation;
    use LinkerWord::*;

    fn words(line: &str) -> Vec<LinkerWord> {
        let invocation =
            Invocation::parse(&line.split_whitespace().map(Into::into).collect::<Vec<_>>());
        let mut words = LinkerWords::default();
        invocation.options().flat_map(|option| words.of_option(option)).collect()
    }

    #[test]
    fn both_spellings_and_split_values() {
        let rpath = || Valued("-rpath".into(), "/x".into());
        assert_eq!(
            words("-Wl,-rpath,/x -Wl,-rpath=/x -Wl,-rpath -Wl,/x"),
            [rpath(), rpath(), rpath()]
        );
        assert_eq!(words("-Xlinker -rpath -Xlinker /x"), [rpath()]);
        assert_eq!(
            words("-Wl,--version-script=v.map"),
            [OfFile("--version-script".into(), "v.map".into())]
        );
        assert_eq!(
            words("-Wl,--whole-archive,liba.a,--no-whole-archive,-lm,-Ldir,-znow"),
            [
                Flag("--whole-archive".into()),
                Input("liba.a".into()),
                Flag("--no-whole-archive".into()),
                Library("m".into()),
                SearchDirectory("dir".into()),
                Valued("-z".into(), "now".into()),
            ]
        );
    }

    #[test]
    fn what_only_decorates_the_output_is_left_out() {
        assert_eq!(words("-Wl,-Map,x.map,-s,--build-id=sha1,-O1,-Map=y,--dependency-file=z"), []);
        assert_eq!(
            words("-Wl,--gc-sections,-E"),
            [Flag("--gc-sections".into()), Flag("-E".into())]
        );
    }
}
