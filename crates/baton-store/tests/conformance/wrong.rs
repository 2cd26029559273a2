//! Stores that are wrong on purpose, each in one way, and the cases that must notice.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_core::ids::{BootId, Epoch, Namespace, Nonce};
use baton_core::protocol::{
    Acquire, BeatRequest, Claim, Expiry, LeaseIntent, LeaseSnapshot, Outcome, Release,
    ReleaseReason, Renew, Reply, Request, Version,
};
use baton_store::wrap::Layer;
use baton_store::{
    Answer, Backend, BatchOutcome, Call, CounterCall, Delta, DocumentWrite, Precondition, Store,
    StoreError,
};

/// One way to be wrong.
#[derive(Clone, Copy, Debug)]
pub enum Wrong {
    ChecksAndThenWrites,
    StealsLiveLeases,
    TakesAnyBootForDead,
    RenewsAfterExpiry,
    ForgetsTheEpochOnRelease,
    IgnoresTheFloor,
    IgnoresTheLineage,
    IgnoresPreconditions,
    IgnoresFences,
    PretendsToKnowAges,
    FoldsCase,
    TakesOverForeignRecords,
    ReplacesAnyBoot,
    HistoryOldestFirst,
    DoesNotNoticeDeaths,
    ShowsOnlookersNothing,
    AppliesWithoutMarking,
    ForgetsItsWriters,
    ForgetsTheLiving,
    BelievesEveryDeath,
    WritesBatchesInPart,
    ReadsInAnotherOrder,
    ForgetsReports,
}

impl Wrong {
    /// Every one.
    pub const ALL: [Self; 23] = [
        Self::ChecksAndThenWrites,
        Self::StealsLiveLeases,
        Self::TakesAnyBootForDead,
        Self::RenewsAfterExpiry,
        Self::ForgetsTheEpochOnRelease,
        Self::IgnoresTheFloor,
        Self::IgnoresTheLineage,
        Self::IgnoresPreconditions,
        Self::IgnoresFences,
        Self::PretendsToKnowAges,
        Self::FoldsCase,
        Self::TakesOverForeignRecords,
        Self::ReplacesAnyBoot,
        Self::HistoryOldestFirst,
        Self::DoesNotNoticeDeaths,
        Self::ShowsOnlookersNothing,
        Self::AppliesWithoutMarking,
        Self::ForgetsItsWriters,
        Self::ForgetsTheLiving,
        Self::BelievesEveryDeath,
        Self::WritesBatchesInPart,
        Self::ReadsInAnotherOrder,
        Self::ForgetsReports,
    ];

    /// The cases that must notice, others may.
    pub fn must_fail(self) -> &'static [&'static str] {
        match self {
            Self::ChecksAndThenWrites => &[
                "two_rivals_on_an_expired_epoch_three",
                "five_rivals_on_an_expired_epoch_one",
                "ten_create_the_lease_at_once",
                "three_find_the_same_process_dead",
                "four_take_up_a_released_lease",
            ],
            Self::StealsLiveLeases => &[
                "a_live_lease_is_refused_whatever_the_ttl",
                "a_wall_clock_ten_minutes_ahead_changes_nothing",
            ],
            Self::TakesAnyBootForDead => &["the_wrong_boot_proves_nothing"],
            Self::RenewsAfterExpiry => &["a_renewal_after_expiry_is_refused"],
            Self::ForgetsTheEpochOnRelease => &[
                "a_release_keeps_the_record_and_names_the_successor",
                "the_epoch_goes_on_after_a_release",
                "the_epoch_goes_on_after_a_restart",
            ],
            Self::IgnoresTheFloor => &["the_floor_lifts_the_epoch"],
            Self::IgnoresTheLineage => &[
                "a_claim_from_another_lineage_is_refused",
                "a_claim_of_the_old_lineage_is_refused",
            ],
            Self::IgnoresPreconditions => &[
                "a_document_is_created_once",
                "a_write_expects_the_version_it_read",
                "sixty_four_workers_lose_no_increment",
                "a_conflict_in_a_batch_writes_nothing_and_is_named",
            ],
            Self::IgnoresFences => &[
                "a_write_of_an_earlier_term_is_fenced",
                "a_view_of_an_earlier_term_is_fenced",
                "the_fence_stands_after_a_release",
                "a_consolidation_of_an_earlier_term_is_fenced",
                "a_prune_of_an_earlier_term_is_fenced",
                "a_batch_of_an_earlier_term_writes_nothing",
            ],
            Self::PretendsToKnowAges => &["members_tell_their_age"],
            Self::FoldsCase => &["namespaces_with_names_alike_do_not_touch"],
            Self::TakesOverForeignRecords => &["a_foreign_record_is_reported_and_not_taken_over"],
            Self::ReplacesAnyBoot => &["another_boot_is_refused_whole"],
            Self::HistoryOldestFirst => &["the_newest_come_first_up_to_the_limit"],
            Self::DoesNotNoticeDeaths => &["the_lease_of_a_dead_process_is_over_at_once"],
            Self::ShowsOnlookersNothing => {
                &["an_onlooker_sees_what_a_beat_shows_and_is_not_registered"]
            }
            Self::AppliesWithoutMarking => &[
                "additions_are_read_before_and_after_they_are_consolidated",
                "racing_consolidations_apply_everything_once",
            ],
            Self::ForgetsItsWriters => &[
                "an_append_that_is_repeated_counts_once",
                "an_append_below_the_writers_last_is_too_late",
            ],
            Self::ForgetsTheLiving => &["a_silent_node_is_forgotten_and_a_live_one_is_not"],
            Self::BelievesEveryDeath => &["a_claim_of_death_is_refused_while_the_process_lives"],
            Self::WritesBatchesInPart => &[
                "a_conflict_in_a_batch_writes_nothing_and_is_named",
                "of_two_batches_that_overlap_one_wins",
                "batches_without_a_precondition_do_not_mix",
            ],
            Self::ReadsInAnotherOrder => &["documents_are_read_in_the_order_asked"],
            Self::ForgetsReports => &["a_record_comes_back_as_it_was_written"],
        }
    }
}

/// The layer that makes a store wrong. Its handles share what they forgot.
#[derive(Clone)]
pub struct Bent {
    wrong: Wrong,
    forgotten: Arc<Mutex<BTreeMap<Namespace, u32>>>,
    counted: Arc<Mutex<Counted>>,
}

/// What was appended where, and the last writer that was made up.
#[derive(Default)]
struct Counted {
    deltas: BTreeMap<Namespace, Vec<Delta>>,
    writer: u128,
}

impl Counted {
    fn made_up(&mut self) -> BootId {
        self.writer += 1;
        BootId(self.writer << 64)
    }
}

impl Bent {
    /// Wrong in this way.
    pub fn new(wrong: Wrong) -> Self {
        Self { wrong, forgotten: Arc::default(), counted: Arc::default() }
    }

    /// Where the data is kept: a namespace that was forgotten goes on in a new one.
    fn place(&self, namespace: &Namespace) -> Namespace {
        let forgotten = self.forgotten.lock().expect("no holder panics");
        let name = match (self.wrong, forgotten.get(namespace)) {
            (Wrong::FoldsCase, _) => namespace.as_str().to_lowercase(),
            (_, Some(times)) => format!("{namespace}-again-{times}"),
            (_, None) => return namespace.clone(),
        };
        Namespace::new(&name).expect("it is still a valid name")
    }

    fn forget(&self, namespace: &Namespace) {
        let mut forgotten = self.forgotten.lock().expect("no holder panics");
        *forgotten.entry(namespace.clone()).or_default() += 1;
    }

    async fn bend(&self, inner: &dyn Backend, at: &Namespace, call: &mut Call) {
        match (self.wrong, call) {
            (Wrong::IgnoresPreconditions, Call::WriteDocuments { writes, .. }) => {
                writes.iter_mut().for_each(|write| write.precondition = Precondition::Any);
            }
            (Wrong::IgnoresFences, Call::WriteDocuments { fence, .. }) => *fence = None,
            (Wrong::IgnoresFences, Call::Counters(CounterCall::Consolidate { fence, .. })) => {
                *fence = Epoch::MAX;
            }
            (_, Call::Counters(CounterCall::Append { writer, deltas, .. })) => {
                let mut counted = self.counted.lock().expect("no holder panics");
                counted.deltas.entry(at.clone()).or_default().extend(deltas.iter().cloned());
                if matches!(self.wrong, Wrong::ForgetsItsWriters) {
                    *writer = counted.made_up();
                }
            }
            (Wrong::IgnoresFences, Call::Prune { fence, .. }) => *fence = Epoch::MAX,
            (Wrong::ForgetsTheLiving, Call::Prune { prune, .. }) => prune.dead_for = Duration::ZERO,
            (Wrong::IgnoresFences, Call::Core(Request::PublishView { fence, .. })) => {
                *fence = Epoch::MAX;
            }
            (_, Call::Core(Request::Beat(beat))) => self.bend_beat(inner, at, beat).await,
            _ => {}
        }
    }

    async fn bend_beat(&self, inner: &dyn Backend, at: &Namespace, beat: &mut BeatRequest) {
        if matches!(self.wrong, Wrong::ReplacesAnyBoot) {
            let members = inner.members(at).await.unwrap_or_default();
            let namesake = members.iter().find(|known| known.record.id == beat.node.id);
            beat.replaces = namesake.map(|known| known.record.boot);
        }
        let mut look = beat.clone();
        look.lease = LeaseIntent::Observe;
        let LeaseIntent::Acquire(Acquire { expect, claim, floor, lineage, .. }) = &mut beat.lease
        else {
            return;
        };
        match (self.wrong, *claim) {
            (Wrong::StealsLiveLeases, Claim::Expired)
            | (Wrong::TakesAnyBootForDead, Claim::Dead { .. }) => {
                let boot = last_boot(inner, at).await;
                *claim = boot.map_or(*claim, |boot| Claim::Dead { boot });
            }
            (Wrong::ChecksAndThenWrites, _) => {
                let checked = seen_lease(inner, at, look.clone()).await;
                if checked.map(|lease| lease.version) == *expect {
                    tokio::task::yield_now().await;
                    let found = seen_lease(inner, at, look).await;
                    *expect = found.as_ref().map(|lease| lease.version);
                    let holder = found.and_then(|lease| lease.holder);
                    *claim = holder.map_or(Claim::Vacant, |it| Claim::Dead { boot: it.boot });
                }
            }
            (Wrong::BelievesEveryDeath, Claim::Dead { .. }) => {
                if let Some(held) = seen_lease(inner, at, look.clone()).await {
                    release(inner, at, held.version).await;
                }
                *expect = seen_lease(inner, at, look).await.map(|lease| lease.version);
                *claim = Claim::Vacant;
            }
            (Wrong::IgnoresTheFloor, _) => *floor = Epoch::NONE,
            (Wrong::IgnoresTheLineage, _) => {
                let seen = inner.beat(at, look).await;
                *lineage = seen.map_or(*lineage, |reply| reply.lineage);
            }
            _ => {}
        }
    }

    fn bend_answer(&self, call: &Call, answer: &mut Answer) {
        match (self.wrong, call, answer) {
            (Wrong::RenewsAfterExpiry, Call::Core(Request::Beat(beat)), answer) => {
                pretend_renewed(&beat.lease, answer);
            }
            (Wrong::PretendsToKnowAges, _, Answer::Core(Reply::Members(members))) => {
                for member in members {
                    member.silent_for = Some(Duration::ZERO);
                }
            }
            (Wrong::HistoryOldestFirst, _, Answer::History(terms)) => terms.reverse(),
            (Wrong::ReadsInAnotherOrder, _, Answer::Documents(found)) => found.reverse(),
            (Wrong::ForgetsReports, _, Answer::Core(Reply::Members(members))) => {
                members.iter_mut().for_each(|member| member.record.partitions = None);
            }
            (Wrong::DoesNotNoticeDeaths, _, Answer::Core(Reply::Beat(reply))) => {
                if let Some(lease) = &mut reply.lease {
                    lease.expiry = Expiry::Left(lease.ttl);
                }
            }
            (Wrong::ShowsOnlookersNothing, _, Answer::Inspected(shown)) => shown.lease = None,
            _ => {}
        }
    }
}

impl Bent {
    /// What was applied is pending still.
    async fn append_again(&self, inner: &dyn Backend, at: &Namespace) {
        let call = {
            let mut counted = self.counted.lock().expect("no holder panics");
            let deltas = counted.deltas.get(at).cloned().unwrap_or_default();
            CounterCall::Append { writer: counted.made_up(), number: 1, deltas }
        };
        // A store that refuses it is not as wrong as it was to be, and the case says so.
        let _ = inner.counters(at, call).await;
    }
}

/// Every write of a batch as a step of its own, up to the first that does not hold.
async fn write_in_part(
    inner: &dyn Backend,
    at: &Namespace,
    writes: Vec<DocumentWrite>,
    fence: Option<Epoch>,
) -> Result<Answer, StoreError> {
    let mut written = Vec::new();
    for (index, write) in writes.into_iter().enumerate() {
        match inner.write_documents(at, vec![write], fence).await? {
            BatchOutcome::Written(versions) => written.extend(versions),
            BatchOutcome::Conflict { version, .. } => {
                return Ok(Answer::Written(BatchOutcome::Conflict { index, version }));
            }
            BatchOutcome::Fenced => return Ok(Answer::Written(BatchOutcome::Fenced)),
        }
        tokio::task::yield_now().await;
    }
    Ok(Answer::Written(BatchOutcome::Written(written)))
}

async fn seen_lease(
    inner: &dyn Backend,
    at: &Namespace,
    look: BeatRequest,
) -> Option<LeaseSnapshot> {
    inner.beat(at, look).await.ok()?.lease
}

async fn release(inner: &dyn Backend, at: &Namespace, expect: Version) {
    let (nonce, reason) = (Nonce { attempt: u64::MAX, ..expect.nonce }, ReleaseReason::Resigned);
    // A store that refuses it is not as wrong as it was to be, and the case says so.
    let _ = inner.release(at, Release { expect, nonce, successor: None, reason }).await;
}

async fn last_boot(inner: &dyn Backend, at: &Namespace) -> Option<BootId> {
    let terms = inner.history(at, 1).await.unwrap_or_default();
    terms.first().map(|term| term.boot)
}

fn pretend_renewed(intent: &LeaseIntent, answer: &mut Answer) {
    if let LeaseIntent::Renew(Renew { expect, nonce, .. }) = intent
        && let Answer::Core(Reply::Beat(reply)) = answer
        && let Some(lease) = reply.lease.as_mut().filter(|it| it.version == *expect)
    {
        lease.version.nonce = *nonce;
        reply.outcome = Some(Outcome::Applied);
    }
}

#[async_trait]
impl Layer for Bent {
    async fn call(
        &self,
        inner: &dyn Backend,
        namespace: &Namespace,
        mut call: Call,
    ) -> Result<Answer, StoreError> {
        let at = self.place(namespace);
        self.bend(inner, &at, &mut call).await;
        if let (Wrong::WritesBatchesInPart, Call::WriteDocuments { writes, fence }) =
            (self.wrong, &call)
        {
            return write_in_part(inner, &at, writes.clone(), *fence).await;
        }
        let mut answer = inner.call(&at, call.clone()).await;
        match (self.wrong, &call, &mut answer) {
            (Wrong::ForgetsTheEpochOnRelease, Call::Core(Request::Release(_)), Ok(_)) => {
                self.forget(namespace);
            }
            (
                Wrong::AppliesWithoutMarking,
                Call::Counters(CounterCall::Consolidate { .. }),
                Ok(_),
            ) => self.append_again(inner, &at).await,
            (Wrong::TakesOverForeignRecords, _, Err(StoreError::Corrupt { .. })) => {
                self.forget(namespace);
                return inner.call(&self.place(namespace), call).await;
            }
            (_, _, Ok(answer)) => self.bend_answer(&call, answer),
            _ => {}
        }
        answer
    }
}
