//! Where everything is kept, and the version of this format.
//!
//! ```text
//!   PREFIX/format                   its version
//!   PREFIX/compatible               the lowest version that a program must know to use it
//!   PREFIX/NAMESPACE/lead/lease     the lease record; never deleted
//!                        /holder    attached to an etcd lease: while it is there, the term is live
//!                        /fence     the highest epoch that a write carried
//!                        /view      the published view
//!                   /nodes/ID       one record a node
//!                   /terms/NUMBER   one record a term
//!                   /documents/NAME
//!                   /fences/NAME    for the user's own data
//! ```
//!
//! Neither a namespace nor a node id has a `/` in it, so no key can be taken for another kind's.

use baton_core::ids::{Namespace, NodeId};
use baton_store::StoreError;

use super::NAME;
use super::connect::Connection;
use super::wire::{Compare, KeyValue, Op, Range, Txn, TxnAnswer};
use crate::OpenError;
use crate::driver::SchemaVersion;
use crate::reader::Access;

const KNOWN: SchemaVersion = SchemaVersion::new(1, Some(1));

pub(super) fn format(prefix: &str) -> String {
    format!("{prefix}/format")
}

/// Every namespace in which something was written: one request each, which goes on behind all keys
/// of the last one.
pub(super) async fn namespaces(connection: &Connection) -> Result<Vec<Namespace>, StoreError> {
    let all = format!("{}/", connection.config.prefix);
    let (mut namespaces, mut from) = (Vec::new(), all.clone());
    while let Some(first) = connection.range(&Range::first_under(&all, &from)).await?.first() {
        let key = str::from_utf8(&first.key).map_err(|problem| StoreError::Corrupt {
            record: format!("a key under {all}"),
            detail: problem.to_string(),
        })?;
        let rest = key.strip_prefix(&all).unwrap_or_default();
        from = match rest.split_once('/') {
            Some((name, _)) => {
                namespaces.extend(Namespace::new(name).ok());
                // The character after '/'.
                format!("{all}{name}0")
            }
            None => format!("{key}\0"),
        };
    }
    Ok(namespaces)
}

#[derive(Clone, Debug)]
pub(super) struct Keys {
    space: String,
    /// What hints are made from: the four that follow.
    pub(super) lead: String,
    pub(super) lease: String,
    pub(super) holder: String,
    pub(super) fence: String,
    pub(super) view: String,
    pub(super) nodes: String,
    pub(super) terms: String,
}

impl Keys {
    pub(super) fn new(prefix: &str, namespace: &Namespace) -> Self {
        let space = format!("{prefix}/{namespace}/");
        let key = |rest: &str| format!("{space}{rest}");
        Self {
            lead: key("lead/"),
            lease: key("lead/lease"),
            holder: key("lead/holder"),
            fence: key("lead/fence"),
            view: key("lead/view"),
            nodes: key("nodes/"),
            terms: key("terms/"),
            space,
        }
    }

    pub(super) fn node(&self, node: &NodeId) -> String {
        format!("{}{node}", self.nodes)
    }

    /// Numbers have all their digits, so that keys sort as they do.
    pub(super) fn term(&self, number: u64) -> String {
        format!("{}{number:020}", self.terms)
    }

    pub(super) fn document(&self, name: &str) -> String {
        format!("{}documents/{name}", self.space)
    }

    pub(super) fn resource(&self, name: &str) -> String {
        format!("{}fences/{name}", self.space)
    }
}

/// Makes sure that the format is there and can be used. For a node the transaction would write, so
/// a user who may not write is refused now, whether it comes to that or not. A reader may find
/// none.
pub(super) async fn check(connection: &Connection, access: Access) -> Result<(), OpenError> {
    let (place, prefix) = (&connection.config.place, &connection.config.prefix);
    let (format, compatible) = (format(prefix), format!("{prefix}/compatible"));
    let read = [&format, &compatible].map(|key| Op::range(Range::key(key)));
    let txn = match access {
        Access::Read => Txn { success: read.into(), ..Txn::default() },
        Access::Write => Txn {
            compare: vec![Compare::absent(&format)],
            success: vec![
                Op::put(&format, KNOWN.version.to_string()),
                Op::put(&compatible, KNOWN.lowest_compatible.to_string()),
            ],
            failure: read.into(),
        },
    };
    let answer: Result<TxnAnswer, _> = connection.ask("kv/txn", &txn).await;
    let answer = answer.map_err(|error| error.at_opening(place, prefix))?;
    let number = |found: &KeyValue| {
        let text = std::str::from_utf8(&found.value).ok();
        text.and_then(|text| text.parse().ok()).ok_or_else(|| OpenError::Strange {
            store: NAME,
            place: place.clone(),
            detail: format!(
                "{} is not a version; is the prefix {prefix} something else's?",
                String::from_utf8_lossy(&found.key)
            ),
        })
    };
    let mut found = answer.responses.iter().map(|answer| answer.response_range.kvs.first());
    // The format has just been made, or is still to be.
    let Some(version) = found.next().flatten() else { return Ok(()) };
    let lowest = found.next().flatten().map(number).transpose()?;
    let found = SchemaVersion::new(number(version)?, lowest);
    match access {
        Access::Read => found.check_to_read(KNOWN, NAME, place),
        Access::Write => found.check_at(KNOWN, NAME, place).map(drop),
    }
}
