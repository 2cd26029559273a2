//! The records as scripts show them: lease, view, nodes, terms.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::Namespace;
use baton_core::protocol::{LeaseSnapshot, Member, NodeRecord, TermEnd, TermRecord, View};

use crate::driver::{DriverError, Fields, Record};

/// What the words of a term's line are.
const TERM_WORDS: [&str; 7] =
    ["epoch", "node_id", "boot", "began_ms", "ended_ms", "ended_by", "gap_ms"];

/// What stands where there is nothing.
const NONE: &str = "-";

impl Fields for BTreeMap<String, String> {
    fn bytes(&self, name: &str) -> Result<Option<&[u8]>, String> {
        Ok(self.get(name).map(String::as_bytes))
    }
}

/// The lease that this hash shows at this microsecond of the server's clock; `None` if it is empty.
pub(super) fn lease(
    namespace: &Namespace,
    now_us: u64,
    mut hash: BTreeMap<String, String>,
) -> Result<Option<LeaseSnapshot>, DriverError> {
    let nonce = hash.get("nonce").and_then(|nonce| nonce.split_once('#'));
    let nonce = nonce.map(|(boot, attempt)| (boot.to_owned(), attempt.to_owned()));
    let (nonce_boot, nonce_attempt) = nonce.unzip();
    let expires_us = hash.get("expires_us").and_then(|expires| expires.parse::<u64>().ok());
    let left_us = expires_us.map(|expires| expires.saturating_sub(now_us).to_string());
    let ttl = hash.remove("ttl_us");
    let fields = [
        ("nonce_boot", nonce_boot),
        ("nonce_attempt", nonce_attempt),
        ("left_us", left_us),
        ("ttl", ttl),
    ];
    for (field, value) in fields {
        hash.extend(value.map(|value| (field.to_owned(), value)));
    }
    Record::new(&hash, &format!("the lease of namespace {namespace}")).lease()
}

pub(super) fn view(
    namespace: &Namespace,
    body: Option<String>,
) -> Result<Option<Arc<View>>, DriverError> {
    let view = body.map(|body| serde_json::from_str(&body)).transpose();
    view.map_err(|problem| {
        DriverError::corrupt(format!("the view of namespace {namespace}"), problem.to_string())
    })
}

/// The node whose entry this is at this microsecond of the server's clock: boot, beat, the
/// microsecond of the beat, and the record as JSON.
pub(super) fn member(
    namespace: &Namespace,
    now_us: u64,
    node: &str,
    entry: &str,
) -> Result<Member, DriverError> {
    let read = || {
        let mut words = entry.splitn(4, ' ');
        let beat_us: u64 = words.nth(2)?.parse().ok()?;
        let record: NodeRecord = serde_json::from_str(words.next()?).ok()?;
        let silent_for = Some(Duration::from_micros(now_us.saturating_sub(beat_us)));
        (record.id.as_str() == node).then_some(Member { record, silent_for })
    };
    read().ok_or_else(|| {
        let record = format!("the record of node {node} in namespace {namespace}");
        DriverError::corrupt(record, "it does not consist of boot, beat, time and record")
    })
}

/// How a term ended, in one word: its JSON without the punctuation.
pub(super) fn end_word(end: TermEnd) -> String {
    let json = serde_json::to_string(&end).expect("it is plain data");
    json.replace(['{', '}', '"'], "")
}

fn end_json(word: &str) -> String {
    match word.split_once(':') {
        Some((kind, reason)) => format!(r#"{{"{kind}":"{reason}"}}"#),
        None => format!(r#""{word}""#),
    }
}

/// The term whose line of seven words this is.
pub(super) fn term(namespace: &Namespace, line: &str) -> Result<TermRecord, DriverError> {
    let words = TERM_WORDS.into_iter().zip(line.split(' ')).filter(|(_, word)| *word != NONE);
    let words = words.map(|(name, word)| (name.to_owned(), word.to_owned()));
    let mut fields: BTreeMap<String, String> = words.collect();
    if let Some(word) = fields.get_mut("ended_by") {
        *word = end_json(word);
    }
    // After a term that was not released the gap is two numbers: at least, and at most.
    if let Some((least, most)) = fields.get("gap_ms").and_then(|gap| gap.split_once("..")) {
        let (least, most) = (least.to_owned(), most.to_owned());
        fields.insert("gap_ms".to_owned(), least);
        fields.insert("gap_at_most_ms".to_owned(), most);
    }
    Record::new(&fields, &format!("the term {line:?} of namespace {namespace}")).term()
}

#[cfg(test)]
mod tests {
    use baton_core::protocol::ReleaseReason;
    use baton_store::StoreError;

    use super::*;

    fn read(line: &str) -> Result<TermRecord, DriverError> {
        term(&Namespace::new("web").expect("it is a name"), line)
    }

    #[test]
    fn every_end_is_read_as_it_was_written() {
        let released = TermEnd::Released(ReleaseReason::PluginsFailed);
        assert_eq!(end_word(released), "released:plugins-failed");
        for wanted in [released, TermEnd::Expired, TermEnd::ProvedDead] {
            let line = format!("1 a 0000000000000000000000000000000b 5 9 {} -", end_word(wanted));
            assert_eq!(read(&line).expect("it is a term").ended, Some((9, wanted)));
        }
        assert!(read("1 a 0000000000000000000000000000000b 5 9 released:nonsense -").is_err());
    }

    #[test]
    fn a_gap_is_one_number_or_two() {
        let gap = |word: &str| {
            let term = read(&format!("1 a 0000000000000000000000000000000b 5 - - {word}")).ok()?;
            Some((term.gap_ms, term.gap_at_most_ms))
        };
        assert_eq!(gap("-"), Some((None, None)));
        assert_eq!(gap("7"), Some((Some(7), None)));
        assert_eq!(gap("7..20"), Some((Some(7), Some(20))));
        assert_eq!(gap("7..x"), None);
    }

    #[test]
    fn a_line_that_is_no_term_is_an_error() {
        let found = read("1 a").map_err(DriverError::into_store_error);
        assert!(matches!(found, Err(StoreError::Corrupt { .. })), "{found:?}");
    }
}
