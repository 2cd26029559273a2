//! After the chaos: what the jobs wrote, what the store remembers, and who is still there.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_cli::attempts::Attempts;
use baton_cli::cluster::Ticks;
use baton_core::protocol::TermRecord;

use crate::error::BenchError;
use crate::processes::in_folder;
use crate::sandbox::Sandbox;

/// How long the processes that are left may take to end.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Pairs of terms, the newest first, whose epochs do not fall.
pub fn disorder(history: &[TermRecord]) -> usize {
    history.windows(2).filter(|pair| pair[0].epoch <= pair[1].epoch).count()
}

/// Terms of the log that the history has not, or of another node.
pub fn unknown_terms(ticks: &Ticks, history: &[TermRecord]) -> usize {
    let known: BTreeMap<u64, &str> =
        history.iter().map(|term| (term.epoch.0, term.node.as_str())).collect();
    let is_known = |epoch: &u64, node: &str| known.get(epoch) == Some(&node);
    ticks.terms().iter().filter(|(epoch, node, ..)| !is_known(epoch, node)).count()
}

/// How many processes of the bench are still there when all had the time to end.
pub async fn left_behind(sandbox: &Sandbox) -> Result<usize, BenchError> {
    let mut left = 0;
    let mut attempts = Attempts::new(LOOK_EVERY, PATIENCE);
    while attempts.next().await {
        let those = in_folder(sandbox.folder());
        let those = those.map_err(|problem| BenchError::File { path: "/proc".into(), problem })?;
        left = those.len();
        if left == 0 {
            break;
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use baton::{BootId, Epoch, NodeId};

    use super::*;

    fn term(epoch: u64, node: &str) -> TermRecord {
        let node = NodeId::new(node).expect("a plain name");
        let (boot, epoch) = (BootId(1), Epoch(epoch));
        TermRecord {
            epoch,
            node,
            boot,
            began_ms: 0,
            ended: None,
            gap_ms: None,
            gap_at_most_ms: None,
        }
    }

    #[test]
    fn epochs_fall_from_the_newest_to_the_oldest_and_none_comes_twice() {
        assert_eq!(disorder(&[term(3, "a"), term(2, "b"), term(1, "a")]), 0);
        assert_eq!(disorder(&[term(3, "a"), term(3, "b"), term(4, "a")]), 2);
    }

    #[test]
    fn a_term_that_the_history_does_not_have_is_found() {
        let log = tempfile::NamedTempFile::new().expect("there is room");
        let line = |epoch: u64| {
            format!(r#"{{"at":1,"epoch":{epoch},"node":"a","pid":1,"kind":"tick","slot":1}}"#)
        };
        std::fs::write(log.path(), format!("{}\n{}\n", line(1), line(2))).expect("there is room");
        let ticks = Ticks::read(log.path()).expect("they are lines of a log");
        assert_eq!(unknown_terms(&ticks, &[term(2, "a"), term(1, "a")]), 0);
        assert_eq!(unknown_terms(&ticks, &[term(2, "b"), term(1, "a")]), 1);
        assert_eq!(unknown_terms(&ticks, &[]), 2);
    }
}
