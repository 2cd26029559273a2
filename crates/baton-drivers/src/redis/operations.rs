//! Every call as the arguments of its script, sent once, and what the script answers. Counters
//! have a file of their own.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Nonce};
use baton_core::protocol::{
    Acquire, BeatReply, BeatRequest, Claim, LeaseIntent, Member, Registration, Renew, Reply,
    Request, TermEnd, TermRecord, Version,
};
use baton_store::{
    Answer, BatchOutcome, Call, Document, DocumentWrite, Inspection, Precondition, Prune,
    PruneOutcome, StoreError, namespace_page,
};

use super::connect;
use super::context::CallContext;
use super::records;
use super::script::Arguments;

const TERMS_KEPT: usize = 1_000;

/// What the beat's script answers: lineage, the server's microsecond, what the intent came to; boot
/// and beat of another process that goes by this node id; a newer view; the lease.
type BeatAnswer = (
    u64,
    u64,
    Option<String>,
    Option<String>,
    Option<u64>,
    Option<String>,
    BTreeMap<String, String>,
);

/// The version and the body of a document, if there is one.
type StoredDocument = (Option<u64>, Option<Vec<u8>>);

impl CallContext<'_> {
    pub(super) async fn perform(&self, call: Call) -> Result<Answer, StoreError> {
        Ok(match call {
            Call::Core(request) => Answer::Core(self.perform_core(&request).await?),
            Call::Inspect => Answer::Inspected(self.inspect().await?),
            Call::ReadDocuments { names } => Answer::Documents(self.read_documents(names).await?),
            Call::WriteDocuments { writes, fence } => {
                Answer::Written(self.write_documents(writes, fence).await?)
            }
            Call::Prune { fence, prune } => Answer::Pruned(self.prune(fence, &prune).await?),
            Call::History { limit } => Answer::History(self.history(limit).await?),
            Call::Namespaces { after, limit } => {
                let config = self.engine.config();
                let keys = connect::scan(&self.engine.slot, &config.every_meta(), "hash").await?;
                let all: Vec<_> = keys.iter().filter_map(|key| config.namespace(key)).collect();
                Answer::Namespaces(namespace_page(all, after.as_ref(), limit))
            }
            Call::Counters(call) => Answer::Counters(self.count(call).await?),
        })
    }

    async fn perform_core(&self, request: &Request) -> Result<Reply, StoreError> {
        let (scripts, arguments) = (&self.engine.scripts, Arguments::default());
        let (script, mut arguments) = match request {
            Request::Beat(beat) => return self.beat(beat).await.map(Reply::Beat),
            Request::ReadMembers => return self.members().await.map(Reply::Members),
            Request::PublishView { fence, view } => {
                let (epoch, number) = (view.version.epoch, view.version.number);
                (&scripts.publish_view, arguments.text(fence).text(epoch).text(number).json(view))
            }
            Request::Release(release) => {
                let ended = records::end_word(TermEnd::Released(release.reason));
                let arguments = version(arguments, Some(release.expect)).text(nonce(release.nonce));
                (&scripts.release, arguments.maybe(release.successor.as_ref()).text(ended))
            }
            Request::Leave { node, boot } => (&scripts.leave, arguments.text(node).text(boot)),
            Request::Ask { epoch, ask } => (&scripts.ask, arguments.text(epoch).json(ask)),
        };
        if let Some(hint) = request.hint_when_applied() {
            arguments = arguments.text(self.engine.config().channel(self.namespace)).json(&hint);
        }
        let (lineage, word): (u64, String) = self.run(script, arguments).await?;
        self.note(Lineage(lineage), 0);
        Ok(Reply::Done(script.word(&word)?))
    }

    async fn beat(&self, beat: &BeatRequest) -> Result<BeatReply, StoreError> {
        let (node, script) = (&beat.node, &self.engine.scripts.beat);
        let arguments = Arguments::default()
            .text(&node.id)
            .text(node.boot)
            .text(node.beat)
            .json(node)
            .maybe(beat.replaces)
            .text(beat.known_view.epoch)
            .text(beat.known_view.number);
        let arguments = intent(arguments, &beat.lease, node.profile.lifeline.as_deref());
        let (lineage, now_us, outcome, boot, number, newer, hash): BeatAnswer =
            self.run(script, arguments).await?;
        let registration = match boot.zip(number) {
            Some((boot, beat)) => {
                let boot = BootId::try_from(boot).map_err(|problem| script.strange(problem))?;
                Registration::TakenBy { boot, beat }
            }
            None => Registration::Registered,
        };
        let lineage = Lineage(lineage);
        self.note(lineage, now_us);
        Ok(BeatReply {
            registration,
            lease: records::lease(self.namespace, now_us, hash)?,
            outcome: outcome.map(|word| script.word(&word)).transpose()?,
            lineage,
            view: records::view(self.namespace, newer)?,
        })
    }

    async fn inspect(&self) -> Result<Inspection, StoreError> {
        let script = &self.engine.scripts.inspect;
        let (lineage, now_us, body, hash) = self.run(script, Arguments::default()).await?;
        Ok(Inspection {
            lease: records::lease(self.namespace, now_us, hash)?,
            lineage: Lineage(lineage),
            view: records::view(self.namespace, body)?,
        })
    }

    /// Every node record, sorted by id.
    async fn members(&self) -> Result<Vec<Member>, StoreError> {
        let script = &self.engine.scripts.members;
        let (now_us, hash): (u64, BTreeMap<String, String>) =
            self.run(script, Arguments::default()).await?;
        let member = |(node, entry): (&String, &String)| {
            records::member(self.namespace, now_us, node, entry)
        };
        Ok(hash.iter().map(member).collect::<Result<_, _>>()?)
    }

    /// What was found, in the order of the names.
    async fn read_documents(
        &self,
        names: Vec<String>,
    ) -> Result<Vec<Option<Document>>, StoreError> {
        let arguments = names.into_iter().fold(Arguments::default(), Arguments::text);
        let found = self.run(&self.engine.scripts.read_documents, arguments).await?;
        let (found,): (Vec<StoredDocument>,) = found;
        let document = |(version, body): StoredDocument| {
            version.zip(body).map(|(version, body)| Document { version, body })
        };
        Ok(found.into_iter().map(document).collect())
    }

    async fn write_documents(
        &self,
        writes: Vec<DocumentWrite>,
        fence: Option<Epoch>,
    ) -> Result<BatchOutcome, StoreError> {
        let script = &self.engine.scripts.write_documents;
        let mut arguments = Arguments::default().maybe(fence);
        for DocumentWrite { name, body, precondition } in writes {
            let (word, version) = match precondition {
                Precondition::Any => ("any", 0),
                Precondition::Absent => ("absent", 0),
                Precondition::Version(version) => ("version", version),
            };
            arguments = arguments.text(name).text(word).text(version).bytes(body);
        }
        let (lineage, word, numbers): (u64, String, Vec<u64>) = self.run(script, arguments).await?;
        self.note(Lineage(lineage), 0);
        match (word.as_str(), &numbers[..]) {
            ("written", _) => Ok(BatchOutcome::Written(numbers)),
            ("conflict", [index, version]) => {
                let index = usize::try_from(*index).map_err(|problem| script.strange(problem))?;
                Ok(BatchOutcome::Conflict { index, version: *version })
            }
            ("fenced", _) => Ok(BatchOutcome::Fenced),
            _ => Err(script.strange(word).into()),
        }
    }

    async fn history(&self, limit: usize) -> Result<Vec<TermRecord>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let arguments = Arguments::default().text(limit.min(TERMS_KEPT));
        let (lines,): (Vec<String>,) = self.run(&self.engine.scripts.history, arguments).await?;
        let terms = lines.iter().rev().map(|line| records::term(self.namespace, line));
        Ok(terms.collect::<Result<_, _>>()?)
    }

    async fn prune(&self, fence: Epoch, prune: &Prune) -> Result<PruneOutcome, StoreError> {
        let arguments = Arguments::default()
            .text(fence)
            .text(micros(prune.dead_for))
            .text(prune.keep_terms.max(1))
            .text(prune.limit);
        let (lineage, records): (u64, Option<u32>) =
            self.run(&self.engine.scripts.prune, arguments).await?;
        self.note(Lineage(lineage), 0);
        Ok(records.map_or(PruneOutcome::Fenced, |records| PruneOutcome::Pruned { records }))
    }
}

/// A nonce as the hash has it.
fn nonce(nonce: Nonce) -> impl Display {
    format!("{}#{}", nonce.boot, nonce.attempt)
}

/// Whole microseconds; a span beyond all numbers is the highest.
fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

fn version(arguments: Arguments, version: Option<Version>) -> Arguments {
    let epoch = version.map(|version| version.epoch);
    arguments.maybe(epoch).maybe(version.map(|version| nonce(version.nonce)))
}

/// What a beat wants of the lease, as the script expects it.
fn intent(arguments: Arguments, intent: &LeaseIntent, lifeline: Option<&str>) -> Arguments {
    match intent {
        LeaseIntent::Observe => arguments.text("observe"),
        LeaseIntent::Acquire(Acquire { expect, claim, lineage, floor, nonce, ttl }) => {
            let (word, dead) = match claim {
                Claim::Vacant => ("vacant", None),
                Claim::Expired => ("expired", None),
                Claim::Dead { boot } => ("dead", Some(boot)),
            };
            version(arguments.text("acquire"), *expect)
                .text(word)
                .maybe(dead)
                .text(lineage.0)
                .text(floor)
                .text(self::nonce(*nonce))
                .text(micros(*ttl))
                .maybe(lifeline.map(|place| format!("+{place}")))
        }
        LeaseIntent::Renew(Renew { expect, lineage, nonce, ttl }) => {
            version(arguments.text("renew"), Some(*expect))
                .text(lineage.0)
                .text(self::nonce(*nonce))
                .text(micros(*ttl))
        }
    }
}
