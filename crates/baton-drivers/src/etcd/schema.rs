//! The version of the format, kept under the prefix. Whoever comes first writes it.

use super::connect::Link;
use super::keys;
use super::wire::{Compare, Op, Range, Txn, TxnAnswer};
use crate::refusal::Refusal;

/// The format that this program reads and writes.
const VERSION: i64 = 1;

/// Sees to it that the format is there and known. The transaction would write, so a user who may
/// not is told now, whether it comes to that or not.
pub(super) async fn settle(link: &Link) -> Result<(), Refusal> {
    let (place, prefix) = (&link.config.place, &link.config.prefix);
    let key = keys::format(prefix);
    let txn = Txn {
        compare: vec![Compare::absent(&key)],
        success: vec![Op::put(&key, VERSION.to_string())],
        failure: vec![Op::Range(Range::key(&key))],
    };
    let answer: Result<TxnAnswer, _> = link.ask("kv/txn", &txn, link.deadline()).await;
    let answer = answer.map_err(|trouble| trouble.of_opening(place, prefix))?;
    if answer.succeeded {
        return Ok(());
    }
    let range = answer.responses.first().and_then(|answer| answer.response_range.as_ref());
    let value = range.and_then(|range| range.kvs.first()).map(|found| found.value.0.as_slice());
    let text = value.and_then(|value| std::str::from_utf8(value).ok());
    let found: Option<i64> = text.and_then(|text| text.parse().ok());
    match found {
        Some(VERSION) => Ok(()),
        Some(found) => {
            Err(Refusal::NewerSchema { store: "etcd", place: place.clone(), found, known: VERSION })
        }
        None => Err(Refusal::Strange {
            store: "etcd",
            place: place.clone(),
            detail: format!("{key} is not a version; is the prefix {prefix} something else's?"),
        }),
    }
}
