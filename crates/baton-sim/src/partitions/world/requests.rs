//! Requests to the store: on the way there and back, with the faults of the way.

use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId};
use baton_core::partition::Assignment;
use baton_core::partition::coordinator::{BatchOutcome, DocumentWrite, Input};
use baton_core::protocol::{Member, NodeRecord, ViewVersion};

use super::process::{self, BeatReply};
use super::{Event, World, term};
use crate::partitions::fact::Fact;
use crate::partitions::fault::Fault;
use crate::partitions::store::Assignments;

/// Who asks, and under which number.
#[derive(Clone, Copy)]
pub enum Sender {
    Term(Epoch, u64),
    Process(BootId, u64),
}

/// A request on its way.
pub struct Message {
    sender: Sender,
    content: Content,
    fate: Fate,
}

/// What is asked.
pub enum Content {
    Beat { record: NodeRecord, replaces: Option<BootId> },
    Leave { node: NodeId, boot: BootId },
    ReadOne { slot: u32 },
    Read { slots: Vec<u32> },
    Write { epoch: Epoch, writes: Vec<DocumentWrite> },
    Members,
    Publish { version: ViewVersion, assignments: Assignments },
}

/// What comes back; `None` if nothing did.
#[derive(Clone)]
enum Answer {
    Beat(Option<BeatReply>),
    One { slot: u32, found: Option<Option<(u64, Assignment)>> },
    Found(Option<Vec<Option<(u64, Assignment)>>>),
    Written(BatchOutcome),
    Members(Option<Vec<Member>>),
    Published(bool),
    Left,
}

/// What becomes of a request on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Arrives,
    Slow,
    Lost,
    LosesReply,
    SlowReply,
    Reset,
    Fails,
}

impl Content {
    /// Nothing came back in time.
    fn unanswered(&self) -> Answer {
        match self {
            Self::Beat { .. } => Answer::Beat(None),
            Self::Leave { .. } => Answer::Left,
            Self::ReadOne { slot } => Answer::One { slot: *slot, found: None },
            Self::Read { .. } => Answer::Found(None),
            Self::Write { .. } => Answer::Written(BatchOutcome::Unknown),
            Self::Members => Answer::Members(None),
            Self::Publish { .. } => Answer::Published(false),
        }
    }

    /// It was certainly not carried out.
    fn failed(&self) -> Answer {
        match self {
            Self::Write { .. } => Answer::Written(BatchOutcome::Failed),
            other => other.unanswered(),
        }
    }
}

impl World {
    pub(super) fn send(&mut self, sender: Sender, content: Content) {
        let mut fate = self.draw_fate();
        let is_large = matches!(content, Content::Members) && fate == Fate::Arrives;
        if is_large && self.rng.one_in(4) && self.draws(Fault::SlowReply) {
            fate = Fate::SlowReply;
        }
        let is_write = matches!(content, Content::Write { .. }) && fate == Fate::Arrives;
        if is_write && self.rng.one_in(8) && self.draws(Fault::SlowRequest) {
            fate = Fate::Slow;
        }
        let way = self.way();
        let (unanswered, failed) = (content.unanswered(), content.failed());
        let message = Message { sender, content, fate };
        let timeout = self.timeout(&message.content);
        match fate {
            Fate::Fails => return self.answer_after(way, sender, failed),
            Fate::Lost => {}
            Fate::Slow => {
                let late = self.rng.span(timeout, self.plan.lease.ttl * 3);
                self.after(late, Event::AtStore(Box::new(message)));
            }
            Fate::Reset => {
                // The answer may come before the request has arrived, and before the next one.
                let late = self.rng.span(Duration::ZERO, timeout * 2);
                let reset = self.span_ms(0, 20);
                self.after(late, Event::AtStore(Box::new(message)));
                self.answer_after(reset, sender, unanswered.clone());
            }
            _ => self.after(way, Event::AtStore(Box::new(message))),
        }
        self.answer_after(timeout, sender, unanswered);
    }

    /// The records of all processes may take longer.
    fn timeout(&self, content: &Content) -> Duration {
        let timeout = self.plan.request_timeout();
        if matches!(content, Content::Members) { timeout * 4 } else { timeout }
    }

    fn way(&mut self) -> Duration {
        self.rng.span(Duration::from_micros(200), self.plan.latency)
    }

    fn draw_fate(&mut self) -> Fate {
        if self.is_calm() || !self.rng.one_in(self.plan.request_fault_one_in) {
            return Fate::Arrives;
        }
        let (fault, fate) = [
            (Fault::SlowRequest, Fate::Slow),
            (Fault::LostRequest, Fate::Lost),
            (Fault::LostReply, Fate::LosesReply),
            (Fault::SlowReply, Fate::SlowReply),
            (Fault::Reset, Fate::Reset),
            (Fault::FailedRequest, Fate::Fails),
        ][self.rng.below(6) as usize];
        if self.draws(fault) { fate } else { Fate::Arrives }
    }

    pub(super) fn reach_store(&mut self, message: Message) {
        if self.store.is_away {
            return;
        }
        let Message { sender, content, fate } = message;
        let timeout = self.timeout(&content);
        let answer = self.carry_out(content);
        if let (Answer::Found(Some(_)) | Answer::Written(_), Sender::Term(epoch, _)) =
            (&answer, sender)
        {
            // The answer shows which line of history the store is of.
            let lineage = term::Delivery::Lineage(self.store.lineage);
            self.after(Duration::ZERO, Event::ToTerm(epoch, lineage));
        }
        let is_deaf = |boot: BootId| {
            let process = self.processes.get(&boot);
            process.is_some_and(|process| self.now < process.deaf_until)
        };
        let way = match fate {
            Fate::LosesReply => return,
            _ if matches!(sender, Sender::Process(boot, _) if is_deaf(boot)) => return,
            Fate::SlowReply => self.rng.span(Duration::ZERO, timeout),
            _ => self.way(),
        };
        self.answer_after(way, sender, answer);
    }

    fn carry_out(&mut self, content: Content) -> Answer {
        match content {
            Content::Beat { record, replaces } => Answer::Beat(Some(BeatReply {
                registration: self.store.register(self.now, &record, replaces),
                view: self.store.view(),
                lineage: self.store.lineage,
            })),
            Content::Leave { node, boot } => {
                self.store.leave(&node, boot);
                Answer::Left
            }
            Content::ReadOne { slot } => {
                let lags = self.rng.one_in(3) && self.draws(Fault::StaleRead);
                let behind = if lags { self.rng.between(1, 4) as usize } else { 0 };
                let stale = self.store.read_stale(slot, behind);
                let found = stale.or_else(|| self.store.read(&[slot]).remove(0));
                Answer::One { slot, found: Some(found) }
            }
            Content::Read { slots } => Answer::Found(Some(self.store.read(&slots))),
            Content::Write { epoch, writes } => {
                let outcome = self.store.write(epoch, &writes);
                self.line(|| format!("store: e{epoch} {}: {outcome:?}", shown(&writes)));
                if matches!(outcome, BatchOutcome::Written(_)) {
                    self.stats.count("batches", 1);
                    self.fact(&Fact::Committed { epoch, at: self.now });
                }
                Answer::Written(outcome)
            }
            Content::Members => {
                let age = |at| self.plan.has_ages.then(|| self.now.since(at));
                let records = self.store.records();
                let members =
                    records.map(|(it, at)| Member { record: it.clone(), silent_for: age(at) });
                Answer::Members(Some(members.collect()))
            }
            Content::Publish { version, assignments } => {
                Answer::Published(self.store.publish(version, assignments))
            }
        }
    }

    fn answer_after(&mut self, span: Duration, sender: Sender, answer: Answer) {
        let event = match sender {
            Sender::Process(boot, request) => {
                let delivery = match answer {
                    Answer::Beat(reply) => process::Delivery::Beaten { request, reply },
                    Answer::One { slot, found } => {
                        process::Delivery::Document { request, slot, found }
                    }
                    _ => return,
                };
                Event::ToProcess(boot, delivery)
            }
            Sender::Term(epoch, request) => {
                let delivery = match answer {
                    Answer::Found(found) => {
                        let input = found.map_or(Input::Unread, |found| Input::Read { found });
                        term::Delivery::Answer { request, input }
                    }
                    Answer::Written(outcome) => {
                        term::Delivery::Answer { request, input: Input::Written(outcome) }
                    }
                    Answer::Members(members) => term::Delivery::Members { request, members },
                    Answer::Published(is_done) => term::Delivery::Published { request, is_done },
                    _ => return,
                };
                Event::ToTerm(epoch, delivery)
            }
        };
        self.after(span, event);
    }
}

fn shown(writes: &[DocumentWrite]) -> String {
    let one = |it: &DocumentWrite| {
        let json = serde_json::to_string(&it.content).expect("plain data");
        format!("slot {} over {}: {json}", it.slot, it.over)
    };
    writes.iter().map(one).collect::<Vec<_>>().join("; ")
}
