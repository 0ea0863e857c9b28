//! Records a link: turns its command line into a [`Recipe`] and collects the native inputs to
//! embed.

mod linker_words;

use crate::arguments::{Argument, Input, Invocation, Opt};
use crate::bitcode::Bitcode;
use crate::driver::Language;
use crate::frame::{self, Kind};
use crate::harness;
use crate::probe::{NativeMember, Probe, probe};
use crate::recipe::{Item, Member, OutputKind, Recipe};
use linker_words::{LinkerWord, LinkerWords};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Result;
use std::path::{Path, PathBuf};

/// What a second compilation made of one input.
pub enum Compiled {
    Bitcode(Bitcode),
    /// Assembly: its object.
    Native(Vec<u8>),
    /// `object` stands in for the missing bitcode in a link.
    NoBitcode {
        reason: String,
        object: Option<Vec<u8>>,
    },
}

pub struct Recorded {
    recipe: Recipe,
    natives: BTreeMap<String, Vec<u8>>,
    /// Files that the recipe names instead of embedding them.
    pub too_large: Vec<PathBuf>,
}

impl Recorded {
    /// The content of the link section.
    pub fn section(self) -> Result<Vec<u8>> {
        let mut section = Vec::new();
        for (key, content) in self.natives {
            frame::write(&mut section, Kind::Native, &key, &content)?;
        }
        let recipe = serde_json::to_vec(&self.recipe)?;
        frame::write(&mut section, Kind::Recipe, "link", &recipe)?;
        Ok(section)
    }
}

/// Records the link that `invocation` asked for and that has succeeded.
pub fn record(
    language: Language,
    invocation: &Invocation,
    compiled: &[(&Input, Compiled)],
) -> Result<Recorded> {
    let mut recorder = Recorder {
        directory: std::env::current_dir()?,
        search: search_directories(invocation),
        prefer_archives: false,
        output: OutputKind::Executable,
        items: Vec::new(),
        without_bitcode: Vec::new(),
        is_harness: false,
        natives: BTreeMap::new(),
        room: EMBEDDED_AT_MOST,
        too_large: Vec::new(),
    };
    recorder.record(invocation, compiled)?;
    Ok(recorder.finish(language))
}

/// Beyond this, native inputs are referred to by path.
const EMBEDDED_AT_MOST: usize = 256 << 20;

/// Libraries below these are the system's: always there, and named rather than embedded.
const SYSTEM_DIRECTORIES: [&str; 5] =
    ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"];

fn is_system(path: &Path) -> bool {
    SYSTEM_DIRECTORIES.iter().any(|directory| path.starts_with(directory))
}

/// Directories for `-l`, all of which the linker searches for each library, wherever they are
/// given.
fn search_directories(invocation: &Invocation) -> Vec<PathBuf> {
    let driver = invocation.options().filter(|option| option.name == "-L");
    let driver = driver.filter_map(|option| option.value.as_ref()).map(PathBuf::from);
    let mut words = LinkerWords::default();
    let linker = invocation.options().flat_map(|option| words.of_option(option));
    let linker: Vec<PathBuf> = linker
        .filter_map(|word| match word {
            LinkerWord::SearchDirectory(directory) => Some(PathBuf::from(directory)),
            _ => None,
        })
        .collect();
    driver.chain(linker).collect()
}

struct Recorder {
    directory: PathBuf,
    search: Vec<PathBuf>,
    prefer_archives: bool,
    output: OutputKind,
    items: Vec<Item>,
    without_bitcode: Vec<String>,
    is_harness: bool,
    natives: BTreeMap<String, Vec<u8>>,
    room: usize,
    too_large: Vec<PathBuf>,
}

impl Recorder {
    fn record(&mut self, invocation: &Invocation, compiled: &[(&Input, Compiled)]) -> Result<()> {
        let mut words = LinkerWords::default();
        for argument in &invocation.arguments {
            match argument {
                Argument::Input(input) => {
                    match compiled.iter().find(|(other, _)| *other == input) {
                        Some((_, compiled)) => self.compiled(&input.path, compiled),
                        None => self.file(&input.path, false)?,
                    }
                }
                Argument::Option(option) if words.concerns(option) => {
                    for word in words.of_option(option) {
                        self.linker_word(word)?;
                    }
                }
                Argument::Option(option) => self.driver_option(option)?,
            }
        }
        Ok(())
    }

    fn finish(self, language: Language) -> Recorded {
        let recipe = Recipe {
            language,
            output: self.output,
            directory: self.directory,
            items: self.items,
            without_bitcode: self.without_bitcode,
            is_harness: self.is_harness,
        };
        Recorded { recipe, natives: self.natives, too_large: self.too_large }
    }

    fn compiled(&mut self, source: &Path, compiled: &Compiled) {
        match compiled {
            Compiled::Bitcode(_) | Compiled::NoBitcode { object: None, .. } => {}
            Compiled::Native(object) | Compiled::NoBitcode { object: Some(object), .. } => {
                let name = file_name(source);
                self.native(&source.with_extension("o"), object.clone());
                self.without_bitcode.push(name);
            }
        }
    }

    fn driver_option(&mut self, option: &Opt) -> Result<()> {
        let value = option.value.as_ref().map(|value| value.to_string_lossy().into_owned());
        match (option.name.as_str(), value) {
            ("-l", Some(name)) => return self.library(name),
            ("-L", Some(directory)) => {
                self.items.push(Item::SearchDirectory(self.absolute(Path::new(&directory))))
            }
            ("-T", Some(script)) => return self.linker_file("-T", Path::new(&script)),
            (name, _) if harness::asks_for_main(name) => self.is_harness = true,
            (name, value) if matters_to_link(name) => {
                self.note_mode(name);
                self.items.push(Item::Driver(option.words[0].to_string_lossy().into_owned()));
                let separate = value.filter(|_| option.words.len() > 1);
                self.items.extend(separate.map(Item::Driver));
            }
            _ => {}
        }
        Ok(())
    }

    fn note_mode(&mut self, name: &str) {
        match name {
            "-shared" => self.output = OutputKind::SharedLibrary,
            "-r" => self.output = OutputKind::Relocatable,
            "-static" | "--static" | "-static-pie" => self.prefer_archives = true,
            _ => {}
        }
    }

    fn linker_word(&mut self, word: LinkerWord) -> Result<()> {
        match word {
            LinkerWord::Flag(flag) => {
                self.note_linker_mode(&flag);
                self.items.push(Item::Linker(flag));
            }
            LinkerWord::Valued(option, value) => {
                self.items.extend([Item::Linker(option), Item::Linker(value)])
            }
            LinkerWord::OfFile(option, file) => return self.linker_file(&option, Path::new(&file)),
            LinkerWord::SearchDirectory(directory) => {
                self.items.push(Item::SearchDirectory(self.absolute(Path::new(&directory))));
            }
            LinkerWord::Library(name) => return self.library(name),
            LinkerWord::Input(path) => return self.file(Path::new(&path), false),
        }
        Ok(())
    }

    fn note_linker_mode(&mut self, flag: &str) {
        match flag.trim_start_matches('-') {
            "Bstatic" | "static" | "dn" | "non_shared" => self.prefer_archives = true,
            "Bdynamic" | "dy" | "call_shared" => self.prefer_archives = false,
            "shared" | "Bshareable" => self.output = OutputKind::SharedLibrary,
            "r" | "relocatable" => self.output = OutputKind::Relocatable,
            _ => {}
        }
    }

    fn library(&mut self, name: String) -> Result<()> {
        match self.find_library(&name) {
            Some(path) if !is_system(&self.absolute(&path)) => self.file(&path, true),
            _ => {
                self.items.push(Item::Library(name));
                Ok(())
            }
        }
    }

    fn find_library(&self, name: &str) -> Option<PathBuf> {
        let names = match name.strip_prefix(':') {
            Some(exact) => vec![exact.to_owned()],
            None if self.prefer_archives => vec![format!("lib{name}.a")],
            None => vec![format!("lib{name}.so"), format!("lib{name}.a")],
        };
        let candidates =
            self.search.iter().flat_map(|directory| names.iter().map(|name| directory.join(name)));
        candidates.into_iter().find(|path| path.is_file())
    }

    /// An input of the linker. `by_name`: it was found for a `-l`.
    fn file(&mut self, path: &Path, by_name: bool) -> Result<()> {
        let absolute = self.absolute(path);
        match probe(path).unwrap_or(Probe::Missing) {
            Probe::Object { payload: true } => {}
            Probe::SharedLibrary { payload } => {
                self.items.push(Item::SharedLibrary { path: absolute, by_name, payload });
            }
            Probe::MixedArchive(members) => self.members(path, members),
            Probe::Missing => self.items.push(Item::File(absolute)),
            _ if is_system(&absolute) => self.items.push(Item::File(absolute)),
            Probe::Object { payload: false } | Probe::NativeArchive | Probe::Other => {
                self.without_bitcode.push(file_name(path));
                self.native(path, std::fs::read(path)?);
            }
        }
        Ok(())
    }

    fn members(&mut self, path: &Path, members: Vec<NativeMember>) {
        if members.is_empty() {
            return;
        }
        let archive = file_name(path);
        let mut embedded = Vec::new();
        for NativeMember { name, content } in members {
            self.without_bitcode.push(format!("{archive}({name})"));
            match self.embed(content) {
                Some(key) => embedded.push(Member { name, key }),
                None => return self.by_path(path),
            }
        }
        self.items.push(Item::Archive { name: archive, members: embedded });
    }

    fn native(&mut self, path: &Path, content: Vec<u8>) {
        match self.embed(content) {
            Some(key) => self.items.push(Item::Native { name: file_name(path), key }),
            None => self.by_path(path),
        }
    }

    fn by_path(&mut self, path: &Path) {
        let absolute = self.absolute(path);
        self.too_large.push(absolute.clone());
        self.items.push(Item::File(absolute));
    }

    /// Scripts and symbol lists are small: they are embedded however much is embedded already.
    fn linker_file(&mut self, option: &str, path: &Path) -> Result<()> {
        let content = std::fs::read(path)?;
        let key = key_of(&content);
        self.natives.insert(key.clone(), content);
        self.items.push(Item::LinkerFile { option: option.to_owned(), key });
        Ok(())
    }

    /// The key under which `content` is embedded; `None` if there is no room.
    fn embed(&mut self, content: Vec<u8>) -> Option<String> {
        let key = key_of(&content);
        if !self.natives.contains_key(&key) {
            self.room = self.room.checked_sub(content.len())?;
            self.natives.insert(key.clone(), content);
        }
        Some(key)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        let joined = self.directory.join(path);
        joined.canonicalize().unwrap_or(joined)
    }
}

fn key_of(content: &[u8]) -> String {
    Sha256::digest(content).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Options of the driver with an effect on what the linker is told. Sanitizers, profiles and
/// coverage are left out: the bitcode was compiled without them.
fn matters_to_link(name: &str) -> bool {
    const EXACT: &str = "-static --static -static-pie -pie -no-pie -nopie -shared -r -rdynamic \
                         -pthread -nostdlib \
        -nodefaultlibs -nostartfiles -nostdlib++ -nolibc -static-libgcc -static-libstdc++ \
        -shared-libgcc \
        -static-openmp -m32 -m64 -mx32 -u -z -e -rpath -target -B --sysroot -isysroot -Bsymbolic \
        -Bsymbolic-functions";
    const PREFIXES: &str = "-stdlib= -rtlib= --rtlib= -unwindlib= --unwindlib= --target= \
                            --sysroot= --gcc-toolchain= \
        --gcc-install-dir= -fopenmp -B --stdlib= -fno-openmp";
    EXACT.split_whitespace().any(|exact| exact == name)
        || PREFIXES.split_whitespace().any(|prefix| name.starts_with(prefix))
}
