//! What a log proves.

use baton_cli::cluster::{Cluster, Ticks};

/// The log so far, after making sure that never two jobs ran at once.
pub fn judged(cluster: &Cluster) -> Ticks {
    let ticks = cluster.ticks().expect("the log is readable");
    // Lines are in the order of the writes, and stamped just before: both must agree.
    let backwards = ticks.all().windows(2).find(|pair| pair[1].epoch < pair[0].epoch);
    assert_eq!(backwards, None, "written after a later epoch's line");
    assert_eq!(ticks.overlaps(), [], "stamped after a later epoch's line");
    assert_eq!(ticks.shared_epochs(), Vec::<u64>::new(), "two nodes in one epoch");
    assert_eq!(ticks.doubles(), Vec::<u64>::new(), "slots done twice");
    ticks
}

/// Whose job ran in which epoch.
pub fn who(ticks: &Ticks) -> Vec<(u64, String)> {
    ticks.terms().into_iter().map(|(epoch, node, ..)| (epoch, node)).collect()
}
