//! A random runtime and store around one core.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Lineage, Nonce};
use baton_core::protocol::{
    Acquire, BeatReply, BeatRequest, Expiry, Failure, HandoverKind, Hint, Holder, LeaseIntent,
    LeaseSnapshot, Outcome, Registration, Release, Renew, Reply, Request, RequestId, Version,
};
use baton_core::rng::Rng;
use baton_core::settings::Settings;
use baton_core::time::Moment;
use baton_core::timer::Timer;
use baton_core::{Action, Command, Core, Input, LifelineReport};

use crate::harness::store::{heard, unheard, view};
use crate::harness::{ME, Node, ask, boot, id, version};

/// What happened, and what came of it.
pub struct Step {
    pub now: Moment,
    pub input: Input,
    /// The request that the input answers.
    pub answers: Option<Request>,
    pub actions: Vec<Action>,
}

/// One history under way.
pub struct Run {
    pub core: Core,
    rng: Rng,
    now: Moment,
    started: bool,
    out: BTreeMap<RequestId, Request>,
    timers: BTreeMap<Timer, Moment>,
    lease: Option<LeaseSnapshot>,
    lineage: u64,
    work: Option<Epoch>,
    told_to_stop: bool,
}

impl Run {
    pub fn new(settings: Settings, seed: u64) -> Self {
        Self {
            core: Node::new(settings).core,
            rng: Rng::new(seed),
            now: Moment::from_micros(1_000_000),
            started: false,
            out: BTreeMap::new(),
            timers: BTreeMap::new(),
            lease: None,
            lineage: 1,
            work: None,
            told_to_stop: false,
        }
    }

    /// Lets one thing happen.
    pub fn step(&mut self) -> Step {
        let input = self.draw();
        let answered = match &input {
            Input::Replied { id, .. } | Input::Failed { id, .. } => Some(*id),
            _ => None,
        };
        let answers = answered.and_then(|id| self.out.remove(&id));
        match &input {
            Input::Timer(timer) => _ = self.timers.remove(timer),
            Input::TermStopped { .. } => (self.work, self.told_to_stop) = (None, false),
            _ => {}
        }
        let actions = self.core.handle(self.now, input.clone());
        for action in &actions {
            self.carry_out(action);
        }
        Step { now: self.now, input, answers, actions }
    }

    fn carry_out(&mut self, action: &Action) {
        match action {
            Action::Send { id, request, .. } => _ = self.out.insert(*id, request.clone()),
            Action::SetTimer { timer, at } => _ = self.timers.insert(*timer, *at),
            Action::CancelTimer(timer) => _ = self.timers.remove(timer),
            Action::StartTerm { epoch, .. } => self.work = Some(*epoch),
            Action::StopTerm { .. } => self.told_to_stop = true,
            _ => {}
        }
    }

    fn draw(&mut self) -> Input {
        if !std::mem::replace(&mut self.started, true) {
            return Input::Start;
        }
        let pause = if self.rng.one_in(40) { 40_000_000 } else { 400_000 };
        self.now = self.now + Duration::from_micros(self.rng.below(pause));
        match self.rng.below(20) {
            0..=9 if !self.out.is_empty() => self.draw_answer(),
            0..=14 => self.draw_timer(),
            15 | 16 if self.told_to_stop => {
                Input::TermStopped { epoch: self.work.unwrap_or_default() }
            }
            15 => self.draw_hint(),
            16 => self.draw_lifeline(),
            17 if self.rng.one_in(6) => Input::TermFailed { epoch: self.work.unwrap_or_default() },
            18 if self.rng.one_in(3) => self.draw_command(),
            _ => self.draw_timer(),
        }
    }

    /// The timer that is due first, at its time or late; seldom one that was never set.
    fn draw_timer(&mut self) -> Input {
        let first = self.timers.iter().min_by_key(|(_, at)| **at).map(|(timer, at)| (*timer, *at));
        let Some((timer, at)) = first.filter(|_| !self.rng.one_in(30)) else {
            let any = self.rng.below(Timer::ALL.len() as u64) as usize;
            return Input::Timer(Timer::ALL[any]);
        };
        self.now = self.now.max(at);
        Input::Timer(timer)
    }

    fn draw_answer(&mut self) -> Input {
        let nth = self.rng.below(self.out.len() as u64) as usize;
        let (id, request) = self.out.iter().nth(nth).expect("it is below the length");
        let (id, request) = (*id, request.clone());
        if self.rng.one_in(6) {
            // The write may have taken place all the same.
            if let Request::Beat(beat) = &request
                && self.rng.one_in(2)
            {
                self.apply(beat);
            }
            let failures = [Failure::Unknown, Failure::NotDone, Failure::Rejected];
            let failure = failures[self.rng.below(3) as usize];
            return Input::Failed { id, failure };
        }
        let outcomes = [Outcome::Applied, Outcome::Applied, Outcome::Conflict, Outcome::Unknown];
        let outcome = outcomes[self.rng.below(4) as usize];
        let reply = match &request {
            Request::Beat(beat) => Reply::Beat(self.answer_beat(beat)),
            Request::ReadMembers => {
                let beat = self.rng.below(9);
                Reply::Members(vec![unheard("a", beat), heard(ME, beat), heard("z", 1)])
            }
            Request::Release(Release { expect, nonce, successor, .. }) => {
                let ours = |lease: &&mut LeaseSnapshot| lease.version == *expect;
                if let (Outcome::Applied, Some(lease)) = (outcome, self.lease.as_mut().filter(ours))
                {
                    lease.holder = None;
                    lease.successor = successor.clone();
                    lease.version.nonce = *nonce;
                }
                Reply::Done(outcome)
            }
            _ => Reply::Done(outcome),
        };
        Input::Replied { id, reply }
    }

    fn answer_beat(&mut self, beat: &BeatRequest) -> BeatReply {
        if self.rng.one_in(8) {
            self.disturb();
        }
        let taken = self.rng.one_in(400);
        let applied = !taken && !self.rng.one_in(8) && self.apply(beat);
        let outcome = match beat.lease {
            LeaseIntent::Observe => None,
            _ if applied => Some(Outcome::Applied),
            _ => Some(Outcome::Conflict),
        };
        let registration = if taken {
            Registration::TakenBy { boot: BootId(1), beat: self.rng.below(3) }
        } else {
            Registration::Registered
        };
        let epoch = self.lease.as_ref().map_or(1, |lease| lease.version.epoch.0);
        let newer = view("a", (epoch, self.rng.below(9)), &["a", ME, "z"], &[ME, "z"]);
        BeatReply {
            registration,
            lease: self.lease.clone(),
            outcome,
            lineage: Lineage(self.lineage),
            view: self.rng.one_in(9).then(|| newer.into()),
        }
    }

    /// Does what the beat asks, if the record is as it expects.
    fn apply(&mut self, beat: &BeatRequest) -> bool {
        let stored = self.lease.as_ref().map(|lease| lease.version);
        let (epoch, nonce, ttl) = match &beat.lease {
            LeaseIntent::Acquire(Acquire { expect, floor, nonce, ttl, .. })
                if *expect == stored =>
            {
                let stored = stored.map_or(Epoch::NONE, |version| version.epoch);
                (stored.max(*floor).next(), *nonce, *ttl)
            }
            LeaseIntent::Renew(Renew { expect, nonce, ttl, .. }) if Some(*expect) == stored => {
                (expect.epoch, *nonce, *ttl)
            }
            _ => return false,
        };
        self.put(ME, Version { epoch, nonce }, ttl);
        true
    }

    fn put(&mut self, by: &str, version: Version, ttl: Duration) {
        let observer = self.rng.one_in(3);
        self.lease = Some(LeaseSnapshot {
            version,
            holder: Some(Holder {
                node: id(by),
                boot: version.nonce.boot,
                lifeline: (by != ME).then(|| by.into()),
            }),
            successor: None,
            ttl,
            expiry: if observer { Expiry::Observer } else { Expiry::Left(ttl) },
            lineage: Lineage(self.lineage),
            asked: None,
        });
    }

    /// Something happens to the record that this node has no part in.
    fn disturb(&mut self) {
        let ttl = self.core.settings().lease_timeout;
        let now = self.lease.as_ref().map_or(0, |lease| lease.version.epoch.0);
        match self.rng.below(6) {
            0 => self.put("a", version("a", now + 1, now), ttl),
            1 => self.put("a", version("a", now.saturating_sub(1).max(1), 99), ttl),
            2 => self.lineage += 1,
            3 => self.lease = None,
            4 => {
                let mine = Nonce { boot: boot(ME), attempt: self.rng.below(20) };
                self.put(ME, Version { epoch: Epoch(now.max(1)), nonce: mine }, ttl);
            }
            _ => {
                if let Some(lease) = &mut self.lease {
                    let left = self.rng.below(2) * 1_000;
                    lease.expiry = Expiry::Left(Duration::from_millis(left));
                    lease.asked = Some(ask("a", HandoverKind::Transfer(id("z"))));
                }
            }
        }
    }

    fn draw_hint(&mut self) -> Input {
        let stored = self.lease.as_ref().map_or(version("a", 1, 1), |lease| lease.version);
        Input::Hint(match self.rng.below(4) {
            0 => Hint::Look,
            1 => Hint::ViewMoved,
            2 => Hint::Prepare { epoch: stored.epoch },
            _ => Hint::Released { version: stored, successor: Some(id(ME)) },
        })
    }

    fn draw_lifeline(&mut self) -> Input {
        let other = LifelineReport::OtherBoot(BootId(2));
        let (alive, broken) = (LifelineReport::Alive, LifelineReport::Broken);
        let reports = [LifelineReport::Refused, other, LifelineReport::Closed, alive, broken];
        let report = reports[self.rng.below(5) as usize];
        Input::Lifeline { boot: boot("a"), report, own_host: self.rng.one_in(4) }
    }

    fn draw_command(&mut self) -> Input {
        let yes = !self.rng.one_in(3);
        Input::Command(match self.rng.below(40) {
            0..=5 => Command::Resign,
            6..=11 => Command::Transfer { to: id("z") },
            12..=15 => Command::EnsureCoordinator { force: yes, desired: None },
            16..=21 => Command::SetEligible(yes),
            22..=27 => Command::SetHealthy(yes),
            28..=33 => Command::SetDraining(!yes),
            34..=38 => Command::SetLoad(3),
            _ => Command::Leave,
        })
    }
}
