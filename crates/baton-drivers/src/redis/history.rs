//! Terms: one line of seven words each.

use std::collections::BTreeMap;

use baton_core::ids::Namespace;
use baton_core::protocol::{TermEnd, TermRecord};
use baton_store::StoreError;

use super::context::CallContext;
use super::script::Arguments;
use crate::driver::{DriverError, Record};

/// How many terms the script keeps.
const KEPT: usize = 1_000;

/// What the words of a line are.
const WORDS: [&str; 7] = ["epoch", "node_id", "boot", "began_ms", "ended_ms", "ended_by", "gap_ms"];

/// What stands where there is nothing.
const NONE: &str = "-";

impl CallContext<'_> {
    /// The last terms, the newest first.
    pub(super) async fn history(&self, limit: usize) -> Result<Vec<TermRecord>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let arguments = Arguments::default().text(limit.min(KEPT));
        let (lines,): (Vec<String>,) = self.run(&self.engine.scripts.history, arguments).await?;
        let terms = lines.iter().rev().map(|line| term(self.namespace, line));
        Ok(terms.collect::<Result<_, _>>()?)
    }
}

/// How a term ended, in one word: its JSON without the punctuation.
pub(super) fn end_word(end: TermEnd) -> String {
    let json = serde_json::to_string(&end).expect("it is plain data");
    json.replace(['{', '}', '"'], "")
}

/// The JSON of that word.
fn end_json(word: &str) -> String {
    match word.split_once(':') {
        Some((kind, reason)) => format!(r#"{{"{kind}":"{reason}"}}"#),
        None => format!(r#""{word}""#),
    }
}

fn term(namespace: &Namespace, line: &str) -> Result<TermRecord, DriverError> {
    let words = WORDS.into_iter().zip(line.split(' ')).filter(|(_, word)| *word != NONE);
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
