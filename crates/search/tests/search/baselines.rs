//! `random` and `mutate`.

use search::{Mutate, Outcome, Random, Strategy};

use search_testing::harness::Setup;
use search_testing::program::{Fake, Machine};

/// Two nested comparisons and a crash after them.
fn nested(machine: &mut Machine<'_>) -> Outcome {
    let Some(first) = machine.byte(0) else { return Outcome::Exit(0) };
    let small = machine.less(first, 16);
    if !machine.branch(2, small) {
        return Outcome::Exit(0);
    }
    let Some(second) = machine.byte(1) else { return Outcome::Exit(0) };
    let small = machine.less(second, 16);
    if machine.branch(3, small) { Outcome::Signal(11) } else { Outcome::Exit(0) }
}

fn inputs(strategy: &mut dyn Strategy, seed: u64) -> (Vec<Vec<u8>>, search::Results) {
    let mut fake = Fake::new(&[&[], &[]], nested);
    let mut setup = Setup { seeds: vec![b"seed"], seed, ..Setup::default() };
    let (results, _) = setup.search(&mut fake, strategy);
    (fake.inputs, results)
}

#[test]
fn blind_search_finds_shallow_bugs_and_groups_them() {
    let strategies: [Box<dyn Strategy>; 2] = [Box::new(Random), Box::new(Mutate::default())];
    for mut strategy in strategies {
        let (inputs, results) = inputs(&mut *strategy, 3);
        assert!(inputs.iter().all(|input| input.len() <= 4), "{}", strategy.name());
        assert_eq!(results.bugs.all().len(), 1, "{}", strategy.name());
        assert_eq!(
            results.bugs.all()[0].input.len(),
            2,
            "{}: the smallest input stays",
            strategy.name()
        );
        assert_eq!((results.stats.covered, results.stats.outcomes), (4, 4));
        assert_eq!(results.stats.answers, search::Answers::default(), "no solver was asked");
    }
}

#[test]
fn the_seed_of_the_generator_decides() {
    let make: [fn() -> Box<dyn Strategy>; 2] =
        [|| Box::new(Random), || Box::new(Mutate::default())];
    for strategy in make {
        assert_eq!(inputs(&mut *strategy(), 5).0, inputs(&mut *strategy(), 5).0);
        assert_ne!(inputs(&mut *strategy(), 5).0, inputs(&mut *strategy(), 6).0);
    }
}
