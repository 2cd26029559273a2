//! Reading records: what cannot be read as one of baton's is an error of the record, by its name.

use std::fmt::Display;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, NodeId, Nonce};
use baton_core::protocol::{
    Expiry, Holder, LeaseSnapshot, Member, NodeRecord, TermRecord, Version,
};
use serde::de::DeserializeOwned;

use super::DriverError;

/// Where fields are read from: a row, or a hash. Each is text or bytes, as the store keeps it;
/// numbers of 64 bits are text.
pub(crate) trait Fields {
    /// The field of this name; `None` if it is NULL. The error says what else it is.
    fn bytes(&self, name: &str) -> Result<Option<&[u8]>, String>;
}

/// The fields of one record, and what to call it in errors, such as "the lease of namespace web".
pub(crate) struct Record<'a, F> {
    fields: &'a F,
    name: &'a str,
}

impl<'a, F: Fields> Record<'a, F> {
    /// The record of this name in these fields.
    pub(crate) fn new(fields: &'a F, name: &'a str) -> Self {
        Self { fields, name }
    }

    /// What is read of each record, all of this name.
    pub(crate) fn all<T>(
        fields: &'a [F],
        name: &'a str,
        read: impl Fn(Self) -> Result<T, DriverError>,
    ) -> Result<Vec<T>, DriverError> {
        fields.iter().map(|fields| read(Self::new(fields, name))).collect()
    }

    /// The record is not one of baton's.
    pub(crate) fn corrupt(&self, detail: impl Into<String>) -> DriverError {
        DriverError::corrupt(self.name, detail)
    }

    /// The bytes of a field; `None` if it is NULL.
    pub(crate) fn maybe_bytes(&self, field: &str) -> Result<Option<&'a [u8]>, DriverError> {
        let found = self.fields.bytes(field);
        found.map_err(|found| self.corrupt(format!("column {field} is {found}")))
    }

    /// The text of a field; `None` if it is NULL.
    pub(crate) fn maybe_text(&self, field: &str) -> Result<Option<&'a str>, DriverError> {
        let Some(bytes) = self.maybe_bytes(field)? else { return Ok(None) };
        let text = std::str::from_utf8(bytes);
        text.map(Some).map_err(|_| self.corrupt(format!("column {field} is not UTF-8")))
    }

    fn required<T>(&self, field: &str, found: Option<T>) -> Result<T, DriverError> {
        found.ok_or_else(|| self.corrupt(format!("column {field} is NULL")))
    }

    /// The bytes of a field that is never NULL.
    pub(crate) fn bytes(&self, field: &str) -> Result<&'a [u8], DriverError> {
        self.required(field, self.maybe_bytes(field)?)
    }

    /// The text of a field that is never NULL.
    pub(crate) fn text(&self, field: &str) -> Result<&'a str, DriverError> {
        self.required(field, self.maybe_text(field)?)
    }

    /// What is read of the text of a field; `None` if it is NULL.
    pub(crate) fn read<T, E: Display>(
        &self,
        field: &str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, DriverError> {
        let Some(text) = self.maybe_text(field)? else { return Ok(None) };
        let unreadable = |error| self.corrupt(format!("column {field} is {text:?}: {error}"));
        read(text).map(Some).map_err(unreadable)
    }

    /// A node id, a namespace or a boot id, as `new` reads it, that is never NULL.
    pub(crate) fn id<T, E: Display>(
        &self,
        field: &str,
        new: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, DriverError> {
        self.required(field, self.read(field, new)?)
    }

    /// A number; `None` if it is NULL.
    pub(crate) fn maybe_number<T>(&self, field: &str) -> Result<Option<T>, DriverError>
    where
        T: FromStr<Err: Display>,
    {
        self.read(field, str::parse)
    }

    /// A number that is never NULL.
    pub(crate) fn number<T>(&self, field: &str) -> Result<T, DriverError>
    where
        T: FromStr<Err: Display>,
    {
        self.required(field, self.maybe_number(field)?)
    }

    /// A truth value, kept as 0 or 1, that is never NULL.
    pub(crate) fn flag(&self, field: &str) -> Result<bool, DriverError> {
        Ok(self.number::<u64>(field)? != 0)
    }

    /// What is kept as JSON; `None` if it is NULL.
    pub(crate) fn maybe_json<T: DeserializeOwned>(
        &self,
        field: &str,
    ) -> Result<Option<T>, DriverError> {
        self.read(field, |text| serde_json::from_str(text))
    }

    /// A node record and its age: `node_id`, `boot`, `beat`, `eligible`, `draining`, `load`,
    /// `seen`, `partitions`, `profile`, and `silent_us` since its last beat.
    pub(crate) fn member(&self) -> Result<Member, DriverError> {
        let record = NodeRecord {
            id: self.id("node_id", NodeId::new)?,
            boot: self.id("boot", boot_id)?,
            beat: self.number("beat")?,
            eligible: self.flag("eligible")?,
            draining: self.flag("draining")?,
            load: self.number("load")?,
            seen: Epoch(self.number("seen")?),
            partitions: self.maybe_json("partitions")?.map(Arc::new),
            profile: Arc::new(self.required("profile", self.maybe_json("profile")?)?),
        };
        let silent_for = Some(Duration::from_micros(self.number("silent_us")?));
        Ok(Member { record, silent_for })
    }

    /// A term of the history: `epoch`, `node_id`, `boot`, `began_ms`, `ended_ms`, `ended_by`,
    /// `gap_ms`, `gap_at_most_ms`.
    pub(crate) fn term(&self) -> Result<TermRecord, DriverError> {
        let ended_ms = self.maybe_number("ended_ms")?;
        Ok(TermRecord {
            epoch: Epoch(self.number("epoch")?),
            node: self.id("node_id", NodeId::new)?,
            boot: self.id("boot", boot_id)?,
            began_ms: self.number("began_ms")?,
            ended: ended_ms.zip(self.maybe_json("ended_by")?),
            gap_ms: self.maybe_number("gap_ms")?,
            gap_at_most_ms: self.maybe_number("gap_at_most_ms")?,
        })
    }

    /// The lease: `epoch`, `nonce_boot`, `nonce_attempt`, `status` (1 held, 0 released),
    /// `owner_id`, `owner_boot`, `owner_lifeline`, `successor`, `ttl`, `left_us`, `written_in`,
    /// `asked`. `None` if the namespace never had one.
    pub(crate) fn lease(&self) -> Result<Option<LeaseSnapshot>, DriverError> {
        let Some(epoch) = self.maybe_number("epoch")? else { return Ok(None) };
        let (boot, attempt) = (self.id("nonce_boot", boot_id)?, self.number("nonce_attempt")?);
        let left = match u64::try_from(self.number::<i64>("left_us")?) {
            Ok(0) | Err(_) => Duration::ZERO,
            // What is not over is not shown as if it were, however little is left.
            Ok(left) => Duration::from_micros(left).max(Duration::from_millis(1)),
        };
        Ok(Some(LeaseSnapshot {
            version: Version { epoch: Epoch(epoch), nonce: Nonce { boot, attempt } },
            holder: self.holder()?,
            successor: self.read("successor", NodeId::new)?,
            ttl: Duration::from_micros(self.number("ttl")?),
            expiry: Expiry::Left(left),
            lineage: Lineage(self.number("written_in")?),
            asked: self.maybe_json("asked")?,
        }))
    }

    /// The holder of the lease, if its status says that there is one.
    pub(crate) fn holder(&self) -> Result<Option<Holder>, DriverError> {
        let status: u64 = self.number("status")?;
        let node = self.read("owner_id", NodeId::new)?;
        let boot = self.read("owner_boot", boot_id)?;
        let lifeline = self.maybe_text("owner_lifeline")?.map(Arc::from);
        match (status, node, boot) {
            (1, Some(node), Some(boot)) => Ok(Some(Holder { node, boot, lifeline })),
            (0, None, None) => Ok(None),
            _ => Err(self.corrupt("its status does not match its owner")),
        }
    }
}

/// A boot id as every store writes it.
pub(crate) fn boot_id(text: &str) -> Result<BootId, ParseIntError> {
    BootId::try_from(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fields as text; those that are not here are NULL.
    struct Texts(Vec<(&'static str, &'static str)>);

    impl Fields for Texts {
        fn bytes(&self, name: &str) -> Result<Option<&[u8]>, String> {
            let found = self.0.iter().find(|(known, _)| *known == name);
            Ok(found.map(|(_, text)| text.as_bytes()))
        }
    }

    #[test]
    fn a_lease_is_held_or_released_and_any_other_status_is_corrupt() {
        let owner = [("owner_id", "a"), ("owner_boot", "0000000000000000000000000000000b")];
        for (status, is_owned, expected) in [
            ("1", true, Some(true)),
            ("0", false, Some(false)),
            ("1", false, None),
            ("0", true, None),
            ("2", true, None),
            ("2", false, None),
        ] {
            let owner = owner.into_iter().filter(|_| is_owned);
            let fields = Texts(owner.chain([("status", status)]).collect());
            let found = Record::new(&fields, "the lease").holder().ok();
            let is_held = found.map(|holder| holder.is_some());
            assert_eq!(is_held, expected, "status {status}, owned: {is_owned}");
        }
    }
}
