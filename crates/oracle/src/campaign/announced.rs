//! What a campaign announced, over all of its sessions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::harm::Spoilt;
use super::victim::{ENDLESS, function};
use crate::Finding;

/// A kind of event and the bug that it is about.
pub(super) type Plant = (String, String);

/// An event, and what its file held when it was read.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub value: Value,
    pub contents: Option<Vec<u8>>,
}

#[derive(Default)]
pub(super) struct Announced {
    /// By file.
    finds: BTreeMap<String, Find>,
    inputs: BTreeMap<String, Vec<u8>>,
    /// Everything that was ever announced and that nobody but the campaign could lose.
    plants: BTreeSet<Plant>,
    /// What the oracle deleted or damaged; a later session may write it again.
    harmed: BTreeSet<String>,
    /// What it touched since the last session began.
    fresh_harm: BTreeSet<String>,
    all_harmed: u64,
    damaged_state: Option<Vec<u8>>,
    /// Files of the session, by kind and number of the find.
    current: HashMap<(String, u64), String>,
}

#[derive(Clone, Debug)]
pub(super) struct Find {
    pub plant: Plant,
    pub text: String,
    pub report: String,
}

impl Find {
    /// A run that took too long because the machine had other things to do: nobody can say whether
    /// it does so again.
    pub fn is_accident(&self) -> bool {
        self.plant.0 == "hang" && self.plant.1 != ENDLESS
    }
}

#[derive(Default)]
pub(super) struct Told {
    pub is_find: bool,
    pub is_input: bool,
    pub finding: Option<Finding>,
}

impl Announced {
    /// Files that can be looked for: those that the oracle did not harm.
    pub fn finds(&self) -> impl Iterator<Item = (&String, &Find)> {
        self.finds.iter().filter(|(file, _)| !self.is_harmed(file))
    }

    pub fn inputs(&self) -> impl Iterator<Item = (&String, &Vec<u8>)> {
        self.inputs.iter().filter(|(file, _)| !self.is_harmed(file))
    }

    pub fn plants(&self) -> BTreeSet<Plant> {
        self.plants.clone()
    }

    pub fn is_harmed(&self, file: &str) -> bool {
        self.harmed.contains(file) || self.fresh_harm.contains(file)
    }

    pub fn harmed_files(&self) -> u64 {
        self.all_harmed
    }

    /// The oracle did something to files.
    pub fn harmed(&mut self, spoilt: Spoilt) {
        self.all_harmed += spoilt.files.len() as u64;
        self.fresh_harm.extend(spoilt.files);
        self.damaged_state = spoilt.state.or(self.damaged_state.take());
    }

    /// What the state of the search was made into.
    pub fn damaged_state(&self) -> Option<&Vec<u8>> {
        self.damaged_state.as_ref()
    }

    pub fn tell(&mut self, event: &Event) -> Told {
        let Event { value, contents } = event;
        let word = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        match value["event"].as_str().unwrap_or_default() {
            "input" => self.input(word("file"), contents.as_ref()),
            "bug" | "hang" | "violation" | "smaller" => {
                let text = word("text");
                let plant = (word("what"), function(&text).unwrap_or_default());
                let find = Find { plant, text, report: word("report") };
                if find.plant.1.is_empty() && !find.is_accident() {
                    return wrong("a find without a place", find.text);
                }
                self.find(
                    word("file"),
                    find,
                    value["was"].as_str(),
                    value["id"].as_u64().unwrap_or(0),
                )
            }
            _ => Told::default(),
        }
    }

    fn input(&mut self, file: String, contents: Option<&Vec<u8>>) -> Told {
        self.harmed.remove(&file);
        let told = Told { is_input: true, ..Told::default() };
        match contents {
            Some(contents) => _ = self.inputs.insert(file, contents.clone()),
            None if self.is_harmed(&file) => {}
            None => return Told { is_input: true, ..wrong("announced before it was there", file) },
        }
        told
    }

    fn find(&mut self, file: String, find: Find, was: Option<&str>, id: u64) -> Told {
        self.harmed.remove(&file);
        if !find.is_accident() {
            self.plants.insert(find.plant.clone());
        }
        if let Some(was) = was {
            self.finds.remove(was);
        }
        let key = (find.plant.0.clone(), id);
        self.current.insert(key.clone(), file.clone());
        let sharing = self.current.iter().find(|(other, of)| **other != key && **of == file);
        let finding = sharing.map(|(other, _)| Finding {
            class: "two finds share a file".to_owned(),
            detail: format!("{file}: {key:?} and {other:?}"),
        });
        self.finds.insert(file, find);
        Told { is_find: true, finding, ..Told::default() }
    }

    /// From now on a file that was harmed is good again when it is announced anew. A bug all of
    /// whose files were harmed has to be found again, which may need luck.
    pub fn end_session(&mut self) {
        self.current.clear();
        self.harmed.append(&mut self.fresh_harm);
        let (finds, harmed) = (&self.finds, &self.harmed);
        let is_excused = |plant: &Plant| {
            let mut files = finds.iter().filter(|(_, find)| find.plant == *plant).peekable();
            files.peek().is_some() && files.all(|(file, _)| harmed.contains(file))
        };
        self.plants.retain(|plant| !is_excused(plant));
    }
}

fn wrong(class: &str, detail: String) -> Told {
    Told { finding: Some(Finding { class: class.to_owned(), detail }), ..Told::default() }
}
