//! Terms: one line of seven words each.

use baton_core::ids::{Epoch, Namespace, NodeId};
use baton_core::protocol::{ReleaseReason, TermEnd, TermRecord};
use baton_store::StoreError;
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

use super::lease::boot_id;

/// How many terms the script keeps.
pub(super) const KEPT: u64 = 1_000;

/// What stands where there is nothing.
const NONE: &str = "-";

/// How a term ended, in one word.
pub(super) fn end_text(end: TermEnd) -> String {
    match end {
        TermEnd::Expired => "expired".to_owned(),
        TermEnd::ProvedDead => "proved-dead".to_owned(),
        TermEnd::Released(reason) => {
            let reason = serde_json::to_string(&reason).expect("it is a word");
            format!("released:{}", reason.trim_matches('"'))
        }
    }
}

fn end(text: &str) -> Option<TermEnd> {
    match text {
        "expired" => Some(TermEnd::Expired),
        "proved-dead" => Some(TermEnd::ProvedDead),
        text => {
            let word = StrDeserializer::<Error>::new(text.strip_prefix("released:")?);
            ReleaseReason::deserialize(word).ok().map(TermEnd::Released)
        }
    }
}

fn term(line: &str) -> Option<TermRecord> {
    let words: Vec<&str> = line.split(' ').collect();
    let [epoch, node, boot, began_ms, ended_ms, how, gap_ms] = words[..] else { return None };
    let ended = match (ended_ms, how) {
        (NONE, NONE) => None,
        (at, how) => Some((at.parse().ok()?, end(how)?)),
    };
    let (gap_ms, gap_at_most_ms) = gap(gap_ms)?;
    Some(TermRecord {
        epoch: Epoch(epoch.parse().ok()?),
        node: NodeId::new(node).ok()?,
        boot: boot_id(boot)?,
        began_ms: began_ms.parse().ok()?,
        ended,
        gap_ms,
        gap_at_most_ms,
    })
}

/// The gap, and how long it can have been at most if that is not the same.
fn gap(word: &str) -> Option<(Option<u64>, Option<u64>)> {
    match word.split_once("..") {
        None if word == NONE => Some((None, None)),
        None => Some((Some(word.parse().ok()?), None)),
        Some((least, most)) => Some((Some(least.parse().ok()?), Some(most.parse().ok()?))),
    }
}

/// The terms of these lines, the newest first.
pub(super) fn terms(
    namespace: &Namespace,
    lines: &[String],
) -> Result<Vec<TermRecord>, StoreError> {
    let spoilt = |line: &String| StoreError::Corrupt {
        record: format!("the terms of namespace {namespace}"),
        detail: format!("{line:?} is not a term"),
    };
    lines.iter().rev().map(|line| term(line).ok_or_else(|| spoilt(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_survives_the_way_through_text() {
        let released = TermEnd::Released(ReleaseReason::PluginsFailed);
        for wanted in [released, TermEnd::Expired, TermEnd::ProvedDead] {
            assert_eq!(end(&end_text(wanted)), Some(wanted));
        }
        assert_eq!(end("released:nonsense"), None);
    }

    #[test]
    fn a_gap_is_one_number_or_two() {
        assert_eq!(gap("-"), Some((None, None)));
        assert_eq!(gap("7"), Some((Some(7), None)));
        assert_eq!(gap("7..20"), Some((Some(7), Some(20))));
        assert_eq!(gap("7..x"), None);
    }

    #[test]
    fn a_line_that_is_no_term_is_told() {
        let namespace = Namespace::new("web").expect("it is a name");
        let found = terms(&namespace, &["1 a".to_owned()]);
        assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{found:?}");
    }
}
