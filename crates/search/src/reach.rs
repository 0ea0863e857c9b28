//! How many runs took a branch in each source file.

use sites::{SiteKind, SiteTable};

pub struct Reach {
    /// The file of each branch outcome.
    files: Vec<u32>,
    /// The last run that took a branch in each file, counted from 1.
    last: Vec<u64>,
    run: u64,
}

impl Reach {
    pub fn new(table: &SiteTable) -> Reach {
        let mut files = vec![u32::MAX; table.outcomes as usize];
        for site in &table.sites {
            let (first, count) = match &site.kind {
                SiteKind::Plain => continue,
                SiteKind::Branch { coverage } => (*coverage as usize, 2),
                SiteKind::Switch { coverage, cases } => (*coverage as usize, cases.len() + 1),
            };
            files.iter_mut().skip(first).take(count).for_each(|file| *file = site.file);
        }
        Reach { files, last: vec![0; table.files.len()], run: 0 }
    }

    /// Adds a run, by the outcomes that it covered, to the number of runs of each file.
    pub fn add(&mut self, covered: &[u32], runs: &mut Vec<u64>) {
        self.run += 1;
        runs.resize(self.last.len(), 0);
        for &outcome in covered {
            let Some(&file) = self.files.get(outcome as usize) else { continue };
            match self.last.get_mut(file as usize) {
                Some(last) if *last != self.run => *last = self.run,
                _ => continue,
            }
            runs[file as usize] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sites::Site;

    #[test]
    fn a_run_counts_once_for_each_file_that_it_reaches() {
        let site = |file, kind| Site { file, kind, ..Site::default() };
        let table = SiteTable {
            files: vec!["lexer.c".into(), "parser.c".into()],
            outcomes: 6,
            sites: vec![
                site(1, SiteKind::Plain),
                site(0, SiteKind::Branch { coverage: 0 }),
                site(1, SiteKind::Switch { coverage: 2, cases: vec![7] }),
                site(9, SiteKind::Branch { coverage: 4 }),
            ],
            ..SiteTable::default()
        };
        let (mut reach, mut runs) = (Reach::new(&table), Vec::new());
        reach.add(&[0, 1, 3], &mut runs);
        reach.add(&[1, 4, 99], &mut runs);
        assert_eq!(runs, [2, 1]);
    }
}
