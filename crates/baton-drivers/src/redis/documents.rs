//! Documents: read and written by a script each.

use baton_core::ids::{Epoch, Lineage};
use baton_store::{Document, Precondition, StoreError, WriteOutcome};

use super::context::CallContext;
use super::script::Arguments;

impl CallContext<'_> {
    pub(super) async fn read_document(&self, name: String) -> Result<Option<Document>, StoreError> {
        let arguments = Arguments::default().text(name);
        let found = self.run(&self.engine.scripts.read_document, arguments).await?;
        let (version, body): (Option<u64>, Option<Vec<u8>>) = found;
        Ok(version.zip(body).map(|(version, body)| Document { version, body }))
    }

    pub(super) async fn write_document(
        &self,
        name: String,
        body: Vec<u8>,
        precondition: Precondition,
        fence: Option<Epoch>,
    ) -> Result<WriteOutcome, StoreError> {
        let script = &self.engine.scripts.write_document;
        let (word, version) = match precondition {
            Precondition::Any => ("any", 0),
            Precondition::Absent => ("absent", 0),
            Precondition::Version(version) => ("version", version),
        };
        let arguments = Arguments::default();
        let arguments = arguments.text(name).bytes(body).text(word).text(version).maybe(fence);
        let (lineage, word, version): (u64, String, u64) = self.run(script, arguments).await?;
        self.note(Lineage(lineage), 0);
        match word.as_str() {
            "written" => Ok(WriteOutcome::Written(version)),
            "conflict" => Ok(WriteOutcome::Conflict(version)),
            "fenced" => Ok(WriteOutcome::Fenced),
            _ => Err(script.strange(word).into()),
        }
    }
}
