//! The traced build under Tarragon, with every trace checked.
//!
//! Each expression must have, on the input that made it, the value that the program computed, and
//! each recorded condition the direction that the run took. What is found wrong is collected and
//! goes to the test's message.

use std::ffi::OsString;
use std::ops::Range;

use executor::execution;
use expr::{Dag, Evaluator};
use path::{PathCondition, check_directions};
use runner::Runner;
use search::{ExecError, Execution, Executor};
use sites::SiteTable;
use trace::Label;

use crate::Program;
use crate::twins::{Observed, options};

/// More faults than this are not reported for one program.
const MAX_FAULTS: usize = 3;

pub struct Tracer {
    runner: Runner,
    sites: SiteTable,
    faults: Vec<String>,
    constraints: usize,
}

impl Tracer {
    pub fn start(program: &Program, arguments: &[OsString]) -> Result<Tracer, String> {
        let options = options(&program.traced, arguments, program.sites.outcomes);
        let runner = Runner::start(options).map_err(|error| error.to_string())?;
        Ok(Tracer { runner, sites: program.sites.clone(), faults: Vec::new(), constraints: 0 })
    }

    /// What was wrong with the traces so far.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// How many recorded conditions were checked so far.
    pub fn constraints(&self) -> usize {
        self.constraints
    }

    /// Runs `input` with labels or without; also says which branch outcomes were taken.
    pub(crate) fn observe(
        &mut self,
        input: &[u8],
        symbolic: bool,
    ) -> Result<(Observed, Vec<u32>), String> {
        let run = self.runner.run(input, symbolic).map_err(|error| error.to_string())?;
        let observed = Observed { outcome: run.outcome, stdout: run.stdout().unwrap_or_default() };
        let execution = execution(run, symbolic);
        Ok((observed, self.check(input, execution).covered))
    }

    /// Checks the trace of an execution and gives the execution back.
    fn check(&mut self, input: &[u8], mut execution: Execution) -> Execution {
        let mut faults: Vec<String> = execution.bad_trace.iter().cloned().collect();
        if let Some(trace) = &mut execution.trace {
            faults.extend(wrong_values(&trace.dag, input));
            let condition = PathCondition::new(trace, &self.sites);
            self.constraints += condition.len();
            let wrong = check_directions(&trace.dag, &condition, input);
            faults.extend(
                wrong.iter().map(|wrong| format!("{wrong} ({})", self.sites.place(wrong.site))),
            );
        }
        let room = MAX_FAULTS.saturating_sub(self.faults.len());
        let on_input = |fault| format!("on \"{}\": {fault}", input.escape_ascii());
        self.faults.extend(faults.into_iter().take(room).map(on_input));
        execution
    }
}

impl Executor for Tracer {
    fn run(&mut self, input: &[u8], symbolic: bool) -> Result<Execution, ExecError> {
        let run = self.runner.run(input, symbolic).map_err(|error| ExecError(error.to_string()))?;
        let execution = execution(run, symbolic);
        Ok(self.check(input, execution))
    }

    fn restrict(&mut self, holes: Option<&[Range<usize>]>, repetition: Option<Range<usize>>) {
        self.runner.restrict(holes, repetition);
    }
}

/// Expressions whose value on the input is not the one that the program had.
fn wrong_values(dag: &Dag, input: &[u8]) -> Vec<String> {
    let mut evaluator = Evaluator::new();
    let mut evaluation = evaluator.under(dag, input);
    let labels = 1..dag.len() as Label;
    let wrong = labels.filter_map(|label| {
        let (computed, meant) = (dag.value(label), evaluation.eval(label) as u64);
        (computed != meant).then(|| {
            let op = dag.op(label);
            let operands = dag.operands(label).map(|l| format!("{:#x}", dag.value(l))).join(", ");
            let bits = dag.bits(label);
            format!(
                "the program computed {computed:#x}, its expression {op:?} of {bits} bits \
                     ({operands}) means {meant:#x}"
            )
        })
    });
    wrong.take(MAX_FAULTS).collect()
}
