//! D1: the same seed gives the same trace, byte for byte, in each world.

use crate::campaign::run_plan;
use crate::partitions;
use crate::plan::Plan;
use crate::schedules;
use crate::trace::Trace;

use super::CommandError;
use super::print::print_line;

/// Runs seeds of all worlds twice and compares.
pub fn run(seeds: u64) -> Result<(), CommandError> {
    let election = |seed| run_plan(Plan::draw(seed), Trace::on()).trace;
    let of_schedules = |seed| schedules::run_plan(schedules::Plan::draw(seed), Trace::on()).trace;
    let of_partitions =
        |seed| partitions::run_plan(partitions::Plan::draw(seed), Trace::on()).trace;
    let all = [
        compare("elections", seeds, &election),
        compare("schedules", seeds, &of_schedules),
        compare("partitions", seeds, &of_partitions),
    ];
    if all.contains(&false) { Err(CommandError::Broken) } else { Ok(()) }
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
