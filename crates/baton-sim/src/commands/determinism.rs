//! D1: the same seed gives the same trace, byte for byte.

use crate::campaign::run_plan;
use crate::plan::Plan;
use crate::trace::Trace;

use super::CommandError;
use super::print::print_line;

/// Runs seeds twice and compares.
pub fn run(seeds: u64) -> Result<(), CommandError> {
    let mut bytes = 0;
    let mut differ = 0;
    for seed in 0..seeds {
        let [one, other] = [(); 2].map(|()| run_plan(Plan::draw(seed), Trace::on()).trace);
        bytes += one.len();
        if one != other {
            let line = one.lines().zip(other.lines()).take_while(|(a, b)| a == b).count() + 1;
            print_line!("seed {seed}: the traces differ from line {line} on");
            differ += 1;
        }
    }
    print_line!("{seeds} seeds run twice, {bytes} bytes of trace, {differ} differ");
    if differ == 0 && bytes > 0 { Ok(()) } else { Err(CommandError::Broken) }
}
