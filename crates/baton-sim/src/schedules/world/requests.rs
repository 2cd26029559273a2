//! Requests to the store: on the way there and back, with the faults of the way.

use std::time::Duration;

use baton_core::ids::Epoch;
use baton_core::planted::planted;
use baton_core::schedule::Page;
use baton_core::schedule::scheduler::{Input, PageWrite};
use baton_store::WriteOutcome;

use super::term::Delivery;
use super::{Author, Event, World};
use crate::schedules::fact::Fact;
use crate::schedules::fault::Fault;

/// After this time without an answer a read has failed and a write is unknown.
const TIMEOUT: Duration = Duration::from_secs(2);

/// A request on its way.
pub struct Message {
    epoch: Epoch,
    page: usize,
    request: u64,
    content: Content,
    /// Is its reply lost?
    loses_reply: bool,
}

enum Content {
    Read,
    Write { version: u64, page: Page, wall_ms: u64 },
}

/// What becomes of a request on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Arrives,
    Slow,
    Lost,
    LosesReply,
    Reset,
    Fails,
}

impl World {
    pub(super) fn send_read(&mut self, epoch: Epoch, page: usize) {
        self.send(epoch, page, Content::Read);
    }

    pub(super) fn send_write(
        &mut self,
        epoch: Epoch,
        wall_ms: u64,
        (number, version, page): (usize, u64, Page),
    ) {
        self.send(epoch, number, Content::Write { version, page, wall_ms });
    }

    fn send(&mut self, epoch: Epoch, page: usize, content: Content) {
        let fate = self.draw_fate();
        let Some(term) = self.terms.get_mut(&epoch) else { return };
        term.request_numbers += 1;
        let request = term.request_numbers;
        let is_asked_already = term.requests.insert(page, request).is_some();
        self.check_one_request(epoch, page, is_asked_already);
        let unanswered = match content {
            Content::Read => Input::Unread { page },
            Content::Write { .. } => Input::Written { page, outcome: PageWrite::Unknown },
        };
        let failed = match content {
            Content::Read => Input::Unread { page },
            Content::Write { .. } => Input::Written { page, outcome: PageWrite::Failed },
        };
        let message =
            Message { epoch, page, request, content, loses_reply: fate == Fate::LosesReply };
        let answer = |input| Event::Deliver(epoch, Delivery::Reply { page, request, input });
        let way = self.rng.span(Duration::from_micros(200), self.plan.latency);
        match fate {
            Fate::Fails => return self.after(way, answer(failed)),
            Fate::Lost => {}
            Fate::Slow => {
                let late = self.span_ms(1_500, 9_000);
                self.after(late, Event::AtStore(Box::new(message)));
            }
            Fate::Reset => {
                // The answer may come before the request has arrived, and before the next one.
                let late = self.span_ms(0, 1_000);
                let reset = self.span_ms(0, 20);
                self.after(late, Event::AtStore(Box::new(message)));
                self.after(reset, answer(unanswered.clone()));
            }
            Fate::Arrives | Fate::LosesReply => self.after(way, Event::AtStore(Box::new(message))),
        }
        self.after(TIMEOUT, answer(unanswered));
    }

    /// Each page has one request under way at most: answers may come in any order.
    fn check_one_request(&mut self, epoch: Epoch, page: usize, is_asked_already: bool) {
        if is_asked_already {
            self.fact(&Fact::AskedTwice { epoch, page });
        }
    }

    fn draw_fate(&mut self) -> Fate {
        if self.is_calm || !self.rng.one_in(self.plan.request_fault_one_in) {
            return Fate::Arrives;
        }
        let (fault, fate) = [
            (Fault::SlowRequest, Fate::Slow),
            (Fault::LostRequest, Fate::Lost),
            (Fault::LostReply, Fate::LosesReply),
            (Fault::Reset, Fate::Reset),
            (Fault::FailedRequest, Fate::Fails),
        ][self.rng.below(5) as usize];
        if !self.plan.has(fault) {
            return Fate::Arrives;
        }
        self.count(fault);
        fate
    }

    pub(super) fn reach_store(&mut self, message: &Message) {
        if self.store.is_away {
            return;
        }
        let Message { epoch, page, request, .. } = *message;
        let input = match &message.content {
            Content::Read => Input::Read { page, found: self.store.read(page) },
            Content::Write { version, page: content, wall_ms } => {
                let outcome = self.write(epoch, (page, *version, content), *wall_ms);
                Input::Written { page, outcome }
            }
        };
        if !message.loses_reply {
            let way = self.rng.span(Duration::from_micros(200), self.plan.latency);
            self.after(way, Event::Deliver(epoch, Delivery::Reply { page, request, input }));
        }
    }

    fn write(
        &mut self,
        epoch: Epoch,
        (page, version, content): (usize, u64, &Page),
        wall_ms: u64,
    ) -> PageWrite {
        if epoch < self.store.granted {
            self.count(Fault::OldRequest);
        }
        let fence = (!planted!(WriteWithoutFence)).then_some(epoch);
        let (outcome, change) = self.store.write(page, version, content, fence);
        self.line(|| format!("store: e{epoch} writes page {page} over {version}: {outcome:?}"));
        if let Some((before, after)) = change {
            self.committed(page, (&before, &after), Author::Leader { epoch, wall_ms });
        }
        match outcome {
            WriteOutcome::Written(version) => PageWrite::Written(version),
            WriteOutcome::Conflict(_) => PageWrite::Conflict,
            WriteOutcome::Fenced => PageWrite::Fenced,
        }
    }
}
