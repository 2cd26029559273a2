//! D1: the same seed gives the same trace, byte for byte, in each world.

use crate::campaign::run_plan;
use crate::partitions::Partitions;
use crate::plan::Plan;
use crate::schedules::Schedules;
use crate::scripted::ScriptedWorld;
use crate::trace::Trace;

use super::CommandError;
use super::print::print_line;

/// Runs seeds of all worlds twice and compares.
pub fn run(seeds: u64) -> Result<(), CommandError> {
    let election = |seed| run_plan(Plan::draw(seed), Trace::on()).trace;
    let all = [
        compare("elections", seeds, &election),
        compare("schedules", seeds, &traced::<Schedules>),
        compare("partitions", seeds, &traced::<Partitions>),
    ];
    if all.contains(&false) { Err(CommandError::Broken) } else { Ok(()) }
}

fn traced<W: ScriptedWorld>(seed: u64) -> String {
    W::run(W::draw(seed), Trace::on()).trace
}

fn compare(world: &str, seeds: u64, run: &dyn Fn(u64) -> String) -> bool {
    let mut bytes = 0;
    let mut differ = 0;
    for seed in 0..seeds {
        let [one, other] = [(); 2].map(|()| run(seed));
        bytes += one.len();
        if one != other {
            let line = one.lines().zip(other.lines()).take_while(|(a, b)| a == b).count() + 1;
            print_line!("{world}, seed {seed}: the traces differ from line {line} on");
            differ += 1;
        }
    }
    print_line!("{world}: {seeds} seeds run twice, {bytes} bytes of trace, {differ} differ");
    differ == 0 && bytes > 0
}
