//! Documents: read and written by a script each.

use baton_core::ids::{Epoch, Namespace};
use baton_store::{Document, Precondition, StoreError, WriteOutcome};

use super::engine::Redis;
use super::script::Arguments;

impl Redis {
    pub(super) async fn read_document(
        &self,
        namespace: &Namespace,
        name: String,
    ) -> Result<Option<Document>, StoreError> {
        let mut own = Arguments::default();
        own.push(name);
        let mut pieces = self.run(namespace, &self.steps.read_document, own).await?;
        let (version, body) = (pieces.maybe_text()?, pieces.maybe_bytes()?);
        match (version.map(|version| version.parse()), body) {
            (None, None) => Ok(None),
            (Some(Ok(version)), Some(body)) => Ok(Some(Document { version, body })),
            _ => Err(pieces.strange("the document")),
        }
    }

    pub(super) async fn write_document(
        &self,
        namespace: &Namespace,
        name: String,
        body: Vec<u8>,
        precondition: Precondition,
        fence: Option<Epoch>,
    ) -> Result<WriteOutcome, StoreError> {
        let (word, version) = match precondition {
            Precondition::Any => ("any", 0),
            Precondition::Absent => ("absent", 0),
            Precondition::Version(version) => ("version", version),
        };
        let mut own = Arguments::default();
        own.push(name);
        own.push(body);
        own.push(word);
        own.number(version);
        own.maybe(fence.map(|fence| fence.to_string()));
        let mut pieces = self.write(namespace, &self.steps.write_document, own).await?;
        let (word, version) = (pieces.text()?, pieces.parsed()?);
        match word.as_str() {
            "written" => Ok(WriteOutcome::Written(version)),
            "conflict" => Ok(WriteOutcome::Conflict(version)),
            "fenced" => Ok(WriteOutcome::Fenced),
            _ => Err(pieces.strange("its outcome")),
        }
    }
}
