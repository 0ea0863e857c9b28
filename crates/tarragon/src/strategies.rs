//! The strategies. One line of [`STRATEGIES`] is all that a strategy needs to be known: the values
//! of `--strategy` with their help, what may be left out or must be given with it, and how it is
//! built come from there. Names are the strategies' own, so that statistics have the same.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use anyhow::{Context as _, Result, bail};
use campaign::OutputDir;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use grammar::language::Language;
use grammar::symbolic::Symbolic;
use grammar_search::{
    Auto, Cese, GrammarRandom, InPart, Lifting, NamedLifting, SharedCorpus, TreeCorpus, TreeMutate,
};
use search::{Mutate, Named, Order, Random, Strategy, Whitebox, WhiteboxOptions};

use crate::args::{DEFAULT_MAX_LEN, FuzzArgs, OrderName};
use crate::enumeration;
use crate::sources::Sources;

/// A strategy that can be asked for by its name.
pub(crate) struct Registered {
    pub name: &'static str,
    about: About,
    grammar: Grammar,
    /// Whether it needs `--lexer`.
    lexer: bool,
    /// Whether `--exhaustive`, `--max-depth` and `--fixed-len` go with it.
    bounds: bool,
    /// What it enumerates, if it goes through all strings of a grammar.
    symbolic: Option<fn(&FuzzArgs, &Language) -> Result<Symbolic>>,
    build: for<'a, 'l> fn(&'a Materials<'l>) -> Result<Box<dyn Strategy + 'l>>,
}

/// What the help says of it.
enum About {
    Text(&'static str),
    /// The strategies that have turns are listed.
    Turns,
}

/// What it does with a grammar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grammar {
    Ignored,
    Used,
    Needed,
}

/// The order is that of the help.
pub(crate) static STRATEGIES: [Registered; 10] = [
    Registered {
        name: Whitebox::NAME,
        about: About::Text("Solve for inputs that take other paths"),
        grammar: Grammar::Ignored,
        lexer: false,
        bounds: true,
        symbolic: None,
        build: |materials| Ok(Box::new(Whitebox::new(materials.options()))),
    },
    Registered {
        name: Named::NAME,
        about: About::Text("Solve for inputs with other tokens; needs --lexer"),
        grammar: Grammar::Used,
        lexer: true,
        bounds: false,
        symbolic: None,
        build: |materials| Ok(Box::new(Named::new(materials.options()))),
    },
    Registered {
        name: Random::NAME,
        about: About::Text("Random bytes"),
        grammar: Grammar::Ignored,
        lexer: false,
        bounds: false,
        symbolic: None,
        build: |_| Ok(Box::new(Random)),
    },
    Registered {
        name: Mutate::NAME,
        about: About::Text("Random changes of seeds and of what was found"),
        grammar: Grammar::Ignored,
        lexer: false,
        bounds: false,
        symbolic: None,
        build: |_| Ok(Box::<Mutate>::default()),
    },
    Registered {
        name: GrammarRandom::NAME,
        about: About::Text("Random sentences of the grammar"),
        grammar: Grammar::Needed,
        lexer: false,
        bounds: false,
        symbolic: None,
        build: |materials| Ok(Box::new(GrammarRandom::new(materials.language()?)?)),
    },
    Registered {
        name: TreeMutate::NAME,
        about: About::Text("Random changes of the derivation trees of seeds and of what was found"),
        grammar: Grammar::Needed,
        lexer: false,
        bounds: false,
        symbolic: None,
        build: |materials| Ok(Box::new(TreeMutate::sharing(materials.corpus()?))),
    },
    Registered {
        name: Whitebox::NAME_WITHIN,
        about: About::Text("Solve for sentences of the grammar that take other paths"),
        grammar: Grammar::Needed,
        lexer: false,
        bounds: false,
        symbolic: None,
        build: grammar_whitebox,
    },
    Registered {
        name: Cese::NAME,
        about: About::Text(
            "All strings of the grammar with holes for tokens, each filled by exploring all paths",
        ),
        grammar: Grammar::Needed,
        lexer: false,
        bounds: false,
        symbolic: Some(enumeration::with_holes),
        build: cese,
    },
    Registered {
        name: Cese::NAME_CONCRETE,
        about: About::Text("All strings of the grammar"),
        grammar: Grammar::Needed,
        lexer: false,
        bounds: false,
        symbolic: Some(enumeration::without_holes),
        build: cese,
    },
    Registered {
        name: Auto::NAME,
        about: About::Turns,
        grammar: Grammar::Used,
        lexer: false,
        bounds: false,
        symbolic: None,
        build: auto,
    },
];

/// A strategy that has turns in `auto`.
struct Turn {
    name: &'static str,
    kind: Kind,
    /// The part of the time that is promised to it.
    at_least: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It learns from traces alone, which are made for it.
    Solves,
    /// It asks for its traces itself.
    Asks,
    /// It needs no traces, and never ends.
    Mutates,
}

impl Turn {
    const fn of(name: &'static str, kind: Kind) -> Turn {
        Turn { name, kind, at_least: None }
    }
}

/// Mutation has the words that traces tell, so that it must not take the time of those who trace.
const TURNS_WITH_GRAMMAR: [Turn; 3] = [
    Turn { at_least: Some(0.3), ..Turn::of(Whitebox::NAME_WITHIN, Kind::Asks) },
    Turn::of(TreeMutate::NAME, Kind::Mutates),
    Turn::of(Whitebox::NAME, Kind::Solves),
];
const TURNS: [Turn; 2] =
    [Turn::of(Whitebox::NAME, Kind::Solves), Turn::of(Mutate::NAME, Kind::Mutates)];

/// The name of the strategy that is taken if none is named: the best there is, unless something is
/// asked for that only one of its parts does.
fn default_name(args: &FuzzArgs) -> &'static str {
    let is_bounded = args.exhaustive || args.max_depth.is_some() || args.fixed_len.is_some();
    match args.order {
        OrderName::Generational if !is_bounded => Auto::NAME,
        _ => Whitebox::NAME,
    }
}

/// The help of `--strategy`.
pub(crate) fn help() -> String {
    let [best, bounded] = [Auto::NAME, Whitebox::NAME];
    format!(
        "How inputs are made [default: {best}; {bounded} with --exhaustive, --max-depth, \
         --fixed-len or --order depth-first]"
    )
}

/// The help of `--strategy` of `diff`.
pub(crate) fn help_of_diff() -> String {
    let [plain, with_grammar] = [false, true].map(default_name_of_diff);
    format!("How inputs are made [default: {plain}; {with_grammar} with a grammar]")
}

/// The strategy of each side of a cross-check, which mutates between its turns itself. Turns by the
/// clock would make its results depend on time.
pub(crate) fn of_diff(
    named_one: Option<&'static Registered>,
    has_grammar: bool,
) -> Result<&'static Registered> {
    named_one.map_or_else(|| named(default_name_of_diff(has_grammar)), Ok)
}

fn default_name_of_diff(has_grammar: bool) -> &'static str {
    if has_grammar { Auto::NAME } else { Whitebox::NAME }
}

/// The values of `--strategy`.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static Registered> {
    let value = |strategy: &Registered| PossibleValue::new(strategy.name).help(strategy.about());
    PossibleValuesParser::new(STRATEGIES.iter().map(value)).try_map(|name| named(&name))
}

fn named(name: &str) -> Result<&'static Registered> {
    let found = STRATEGIES.iter().find(|strategy| strategy.name == name);
    found.with_context(|| format!("there is no strategy {name}"))
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Registered {
    fn about(&self) -> String {
        let list = |turns: &[Turn]| {
            let names: Vec<&str> = turns.iter().map(|turn| turn.name).collect();
            let (last, others) = names.split_last().unwrap_or((&"", &[]));
            format!("{} and {last}", others.join(", "))
        };
        match self.about {
            About::Text(text) => text.to_owned(),
            About::Turns => format!(
                "Several in turn, by what they bring: with a grammar {}, else {}",
                list(&TURNS_WITH_GRAMMAR),
                list(&TURNS)
            ),
        }
    }
}

/// A strategy with what it needs, which is there.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'l> {
    strategy: &'static Registered,
    language: Option<&'l Language>,
    /// What inputs are made of, if they come from several sources.
    sources: Option<&'l Sources>,
}

/// What does not go with several sources.
fn check_sources(args: &FuzzArgs, strategy: &Registered) -> Result<()> {
    if strategy.grammar == Grammar::Needed || strategy.lexer {
        bail!("{} makes inputs that are one string, and there are several sources", strategy.name);
    }
    if args.bounds.max_len != DEFAULT_MAX_LEN {
        bail!(
            "--max-len is for inputs from one source; sizes of several are in --source NAME=SIZE"
        );
    }
    if args.fixed_len.is_some() {
        bail!(
            "--fixed-len is for inputs from one source; sizes of several are in --source NAME=SIZE"
        );
    }
    Ok(())
}

/// A campaign goes on with the strategy that it had, unless something is asked for that another one
/// does.
fn chosen(args: &FuzzArgs) -> Result<&'static Registered> {
    let usual = default_name(args);
    let name = earlier(args).filter(|_| usual == Auto::NAME).unwrap_or_else(|| usual.to_owned());
    args.strategy.map_or_else(|| named(&name), Ok)
}

/// The strategy of the campaign that is gone on with.
fn earlier(args: &FuzzArgs) -> Option<String> {
    let name = OutputDir::strategy_of(&args.out).filter(|_| args.resume)?;
    STRATEGIES.iter().any(|known| known.name == name).then_some(name)
}

impl<'l> Plan<'l> {
    /// What to know if the campaign had another strategy.
    pub(crate) fn change(self, args: &FuzzArgs) -> Option<String> {
        let (earlier, now) = (earlier(args)?, self.strategy.name);
        let told = format!("the campaign had the strategy {earlier} and goes on with {now}");
        (earlier != now).then_some(told)
    }

    /// The strategy that the user wants, if everything else that is said goes with it.
    pub(crate) fn new(
        args: &FuzzArgs,
        language: Option<&'l Language>,
        sources: Option<&'l Sources>,
    ) -> Result<Plan<'l>> {
        let strategy = chosen(args)?;
        if sources.is_some() {
            check_sources(args, strategy)?;
        }
        if strategy.grammar == Grammar::Needed && language.is_none() {
            bail!("this strategy needs the grammar of the input: give it with --grammar FILE")
        }
        if strategy.lexer && args.target.lexers.is_empty() {
            bail!(
                "this strategy needs the program's lexer: give it with --lexer; `tarragon lexers \
                 PROGRAM` \
                 proposes some"
            );
        }
        if !strategy.bounds && (args.exhaustive || args.max_depth.is_some()) {
            bail!("--exhaustive and --max-depth go with --strategy whitebox only");
        }
        if args.exhaustive && !args.target.lexers.is_empty() {
            bail!(
                "--exhaustive claims that all paths were explored, and --lexer leaves those of \
                 the lexer \
                 out: give one of them"
            );
        }
        if !strategy.bounds && args.fixed_len.is_some() {
            bail!("--fixed-len goes with --strategy whitebox only");
        }
        let language = language.filter(|_| strategy.grammar != Grammar::Ignored);
        Ok(Plan { strategy, language, sources })
    }

    /// The language whose sentences are proposed or judged; one that is enumerated is not.
    pub(crate) fn language(self) -> Option<&'l Language> {
        self.language.filter(|_| !self.enumerates())
    }

    pub(crate) fn enumerates(self) -> bool {
        self.strategy.symbolic.is_some()
    }

    /// Nothing may be left out.
    pub(crate) fn is_exhaustive(self, args: &FuzzArgs) -> bool {
        args.exhaustive || self.enumerates()
    }

    /// The strings that are enumerated, if any are.
    pub(crate) fn symbolic(self, args: &FuzzArgs) -> Result<Option<Symbolic>> {
        let make = self.strategy.symbolic.zip(self.language);
        make.map(|(make, language)| make(args, language)).transpose()
    }

    pub(crate) fn build(
        self,
        args: &'l FuzzArgs,
        symbolic: Option<&'l Symbolic>,
        codes: &'l BTreeMap<String, i64>,
    ) -> Result<Box<dyn Strategy + 'l>> {
        let Plan { language, sources, .. } = self;
        let shared = None;
        (self.strategy.build)(&Materials { args, language, sources, symbolic, codes, shared })
    }
}

/// What strategies are built of.
struct Materials<'l> {
    args: &'l FuzzArgs,
    language: Option<&'l Language>,
    sources: Option<&'l Sources>,
    symbolic: Option<&'l Symbolic>,
    codes: &'l BTreeMap<String, i64>,
    /// What strategies share that have turns.
    shared: Option<SharedCorpus<'l>>,
}

impl<'l> Materials<'l> {
    fn language(&self) -> Result<&'l Language> {
        self.language.context("this strategy needs a grammar")
    }

    fn corpus(&self) -> Result<SharedCorpus<'l>> {
        match &self.shared {
            Some(shared) => Ok(SharedCorpus::clone(shared)),
            None => Ok(TreeCorpus::shared(self.language()?)?),
        }
    }

    /// What of an input is symbolic, if its length is fixed.
    fn holes(&self) -> Option<Range<usize>> {
        let of_sources = self.sources.map(|sources| sources.layout.variable());
        of_sources.or(self.args.fixed_len.map(|len| 0..len))
    }

    fn options(&self) -> WhiteboxOptions {
        let args = self.args;
        WhiteboxOptions {
            order: match args.order {
                OrderName::Generational => Order::Generational,
                OrderName::DepthFirst => Order::DepthFirst,
            },
            exhaustive: args.exhaustive,
            max_depth: args.max_depth.unwrap_or(usize::MAX),
            holes: self.holes().map(|holes| std::iter::once(holes).collect()),
            trace_memory: usize::try_from(args.trace_memory).unwrap_or(usize::MAX),
            overlooks: !args.target.lexers.is_empty(),
            ..WhiteboxOptions::default()
        }
    }
}

fn grammar_whitebox<'l>(materials: &Materials<'l>) -> Result<Box<dyn Strategy + 'l>> {
    let language = materials.language()?;
    let lifting = Lifting::sharing(language, materials.corpus()?)?;
    let options = WhiteboxOptions { outside: materials.shared.is_some(), ..materials.options() };
    Ok(match materials.args.target.lexers.is_empty() {
        true => Box::new(Whitebox::within(options, lifting)),
        false => Box::new(Named::within(options, |inputs| {
            NamedLifting::new(language, lifting, materials.codes, inputs)
        })),
    })
}

fn cese<'l>(materials: &Materials<'l>) -> Result<Box<dyn Strategy + 'l>> {
    let symbolic = materials.symbolic.context("this strategy needs a grammar")?;
    Ok(Box::new(enumeration::cese(materials.args, symbolic)?))
}

fn auto<'l>(materials: &Materials<'l>) -> Result<Box<dyn Strategy + 'l>> {
    let shared = materials.language.map(TreeCorpus::shared).transpose()?;
    let turns = if shared.is_some() { &TURNS_WITH_GRAMMAR[..] } else { &TURNS[..] };
    let materials = Materials { shared, ..*materials };
    let mut auto = Auto::new();
    for turn in turns {
        let strategy = (named(turn.name)?.build)(&materials)?;
        auto = match turn.kind {
            Kind::Solves => auto.solving(strategy),
            Kind::Asks => auto.blind(strategy),
            Kind::Mutates => auto.endless(strategy),
        };
        if let Some(part) = turn.at_least {
            auto = auto.at_least(part);
        }
    }
    if let Some(sources) = materials.sources {
        for (number, language) in &sources.grammars {
            let inner = Box::new(TreeMutate::new(language)?);
            auto = auto.endless(Box::new(InPart::new(inner, sources.layout.clone(), *number)));
        }
    }
    Ok(Box::new(auto))
}
