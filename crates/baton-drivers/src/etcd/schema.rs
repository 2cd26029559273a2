//! The version of the format, kept under the prefix. Whoever comes first writes it.

use super::connect::Link;
use super::keys;
use super::wire::{Compare, KeyValue, Op, Range, RangeAnswer, Txn, TxnAnswer};
use crate::driver::SchemaVersion;
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
    let range = answer.responses.into_iter().find_map(|answer| answer.response_range);
    match answer.succeeded {
        true => Ok(()),
        false => judge(link, range.unwrap_or_default().kvs.first()),
    }
}

/// The same for a reader: no format is there before the first node writes it.
pub(super) async fn look(link: &Link) -> Result<(), Refusal> {
    let (place, prefix) = (&link.config.place, &link.config.prefix);
    let range = Range::key(&keys::format(prefix));
    let answer: Result<RangeAnswer, _> = link.ask("kv/range", &range, link.deadline()).await;
    let answer = answer.map_err(|trouble| trouble.of_opening(place, prefix))?;
    match answer.kvs.first() {
        None => Ok(()),
        found => judge(link, found),
    }
}

/// Is what was found under the key the format that is known?
fn judge(link: &Link, found: Option<&KeyValue>) -> Result<(), Refusal> {
    let (place, prefix) = (link.config.place.clone(), &link.config.prefix);
    let text = found.and_then(|found| std::str::from_utf8(found.value.0.as_slice()).ok());
    match text.and_then(|text| text.parse().ok()) {
        Some(found) => {
            let known = SchemaVersion::new(VERSION, None);
            SchemaVersion::new(found, None).check_at(known, "etcd", &place).map(drop)
        }
        None => Err(Refusal::Strange {
            store: "etcd",
            place,
            detail: format!(
                "{} is not a version; is the prefix {prefix} something else's?",
                keys::format(prefix)
            ),
        }),
    }
}
