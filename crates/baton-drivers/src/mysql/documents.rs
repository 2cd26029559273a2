//! Documents: a batch is read by one statement, and written by one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use baton_core::ids::Epoch;
use baton_store::{BatchOutcome, Document, DocumentWrite, Precondition};

use super::context::CallContext;
use super::statement::{Argument, Ascii, Bytes, Text};
use crate::driver::{DriverError, Record};
use crate::sweep::hexadecimal;

impl CallContext<'_> {
    /// What was found, in the order of the names.
    pub(super) async fn documents(
        &self,
        names: &[String],
    ) -> Result<Vec<Option<Document>>, DriverError> {
        let wanted: Vec<_> = names.iter().map(|name| Bytes(name.as_bytes()).literal()).collect();
        let rows = self.rows(format!(
            "SELECT name, version, body FROM `{}documents` WHERE namespace = {} AND name IN ({})",
            self.prefix(),
            Ascii(self.namespace).literal(),
            wanted.join(",")
        ));
        let (rows, record_name) = (rows.await?, self.documents_name());
        let mut found = BTreeMap::new();
        for row in &rows {
            let record = Record::new(row, &record_name);
            let body = record.bytes("body")?.to_vec();
            found.insert(
                record.bytes("name")?,
                Document { version: record.number("version")?, body },
            );
        }
        Ok(names.iter().map(|name| found.remove(name.as_bytes())).collect())
    }

    /// Writes all of them, if every precondition holds and no later epoch is known.
    pub(super) async fn write_documents(
        &self,
        writes: &[DocumentWrite],
        fence: Option<Epoch>,
    ) -> Result<BatchOutcome, DriverError> {
        let bodies = match writes {
            [only] => Cow::from(&only.body),
            _ => writes.iter().flat_map(|write| &write.body).copied().collect(),
        };
        let call = self
            .procedure("write_documents")
            .with(Text(&listed(writes)))
            .with(Bytes(&bodies))
            .with(fence.map(|epoch| epoch.0));
        let (rows, record_name) = (self.call_rows(call).await?, self.documents_name());
        let records = rows.iter().map(|row| Record::new(row, &record_name));
        let answers = records.map(|record| {
            let (outcome, at) = (record.number("outcome")?, record.number("at")?);
            Ok((outcome, at, record.number("version")?))
        });
        let answers = answers.collect::<Result<Vec<(u64, usize, u64)>, DriverError>>()?;
        Ok(match answers[..] {
            [(0, at, version)] => BatchOutcome::Conflict { index: at.saturating_sub(1), version },
            [(2, ..)] => BatchOutcome::Fenced,
            _ => BatchOutcome::Written(answers.into_iter().map(|(.., version)| version).collect()),
        })
    }

    fn documents_name(&self) -> String {
        format!("a document of namespace {}", self.namespace)
    }
}

/// The writes as the procedure wants them: nothing in them but digits.
fn listed(writes: &[DocumentWrite]) -> String {
    let mut begins = 1;
    let list = writes.iter().map(|DocumentWrite { name, body, precondition }| {
        let at = begins;
        begins += body.len();
        let (takes_any, takes_none, version) = match precondition {
            Precondition::Any => (1, 0, None),
            Precondition::Absent => (0, 1, None),
            Precondition::Version(version) => (0, 0, Some(*version)),
        };
        let (name, version) = (hexadecimal(name.as_bytes()), version.literal().to_lowercase());
        format!("[\"{name}\",{takes_any},{takes_none},{version},{at},{}]", body.len())
    });
    format!("[{}]", list.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_says_where_each_body_begins() {
        let write = |name: &str, body: &[u8], precondition| DocumentWrite {
            name: name.to_owned(),
            body: body.to_vec(),
            precondition,
        };
        let batch = [
            write("a", b"123", Precondition::Any),
            write("", b"", Precondition::Absent),
            write("\"", b"4", Precondition::Version(u64::MAX)),
        ];
        let wanted = "[[\"61\",1,0,null,1,3],[\"\",0,1,null,4,0],\
                      [\"22\",0,0,18446744073709551615,4,1]]";
        assert_eq!(listed(&batch), wanted);
    }
}
