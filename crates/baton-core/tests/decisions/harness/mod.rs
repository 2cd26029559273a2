//! One core, driven by hand.
//!
//! ```text
//!   test ── start, due, answer, fail, command … (ms) ──► Node ──► Core::handle
//!        ◄────────────── exactly these actions ─────────
//! ```
//!
//! The node under test is `m`, its jitter is zero, and its clock starts at 0 ms. A node's boot is
//! the code of the first letter of its name. [`store`] builds what the store says, [`expect`] what
//! the core is expected to do.

pub mod expect;
pub mod store;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, NodeId, Nonce};
use baton_core::protocol::{
    Ask, Failure, HandoverKind, Hint, Member, NodeProfile, Outcome, Reply, Request, RequestId,
    Version,
};
use baton_core::settings::Settings;
use baton_core::time::Moment;
use baton_core::timer::Timer;
use baton_core::{Action, Command, Core, Identity, Input, LifelineReport};

use store::{Answer, heard, view};

/// The node under test.
pub const ME: &str = "m";

/// A moment on the node's clock.
pub fn at(ms: u64) -> Moment {
    Moment::from_micros(ms * 1_000)
}

/// A length of time.
pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A node's id.
pub fn id(name: &str) -> NodeId {
    NodeId::new(name).expect("test names are valid")
}

/// The boot of a node that started once.
pub fn boot(name: &str) -> BootId {
    BootId(u128::from(name.as_bytes()[0]))
}

/// The record as `name` wrote it with its so-manieth attempt, in this epoch.
pub fn version(name: &str, epoch: u64, attempt: u64) -> Version {
    Version { epoch: Epoch(epoch), nonce: Nonce { boot: boot(name), attempt } }
}

/// The defaults without jitter: a 15 s lease, a beat every 5 s. A lease write sent at t is trusted
/// softly until t + 12.6 s and hard until t + 14.6 s.
pub fn settings() -> Settings {
    Settings::default().tune(|it| {
        it.heartbeat_jitter = Duration::ZERO;
        it.startup_jitter_max = Duration::ZERO;
    })
}

/// The same without a cold start.
pub fn at_once() -> Settings {
    settings().tune(|it| it.skip_cold_start = true)
}

/// The core under test, and the requests that wait for an answer.
#[derive(Clone)]
pub struct Node {
    /// For the getters.
    pub core: Core,
    out: BTreeMap<&'static str, RequestId>,
}

impl Node {
    /// A node that has not started.
    pub fn new(settings: Settings) -> Self {
        Self::with_profile(settings, NodeProfile::default())
    }

    /// The same, with a lifeline.
    pub fn with_lifeline(settings: Settings) -> Self {
        let lifeline = Some(Arc::from("127.0.0.1:7000"));
        Self::with_profile(settings, NodeProfile { lifeline, ..NodeProfile::default() })
    }

    fn with_profile(settings: Settings, profile: NodeProfile) -> Self {
        let profile = Arc::new(NodeProfile { priority: settings.priority, ..profile });
        let me = Identity { id: id(ME), boot: boot(ME), profile };
        let core = Core::new(me, Arc::new(settings), 7).expect("the settings agree");
        Self { core, out: BTreeMap::new() }
    }

    /// A leader in epoch 1 that has published its view of these nodes. It asked for the lease
    /// at 0 ms, so that its window closes at 12 600 and 14 600 ms; its next beat is due at 5 000.
    pub fn leader_with(settings: Settings, others: &[&str]) -> Self {
        let mut node = Self::new(settings.tune(|it| it.skip_cold_start = true));
        node.start(0);
        node.answer(0, Answer::free());
        node.answer(10, Answer::held(version(ME, 1, 1)).applied());
        let names: Vec<&str> = others.iter().copied().chain([ME]).collect();
        node.members(20, names.iter().map(|name| heard(name, 1)).collect());
        node.done(30, "publish-view", Outcome::Applied);
        assert!(node.core.is_leader(at(30)), "the script makes a leader");
        node
    }

    /// A leader with the usual settings.
    pub fn leader(others: &[&str]) -> Self {
        Self::leader_with(settings(), others)
    }

    /// A follower of `a`, whose lease of epoch 4 was seen at 0 ms with 15 s left; the view names
    /// these successors.
    pub fn follower_with(settings: Settings, successors: &[&str]) -> Self {
        let mut node = Self::new(settings);
        node.start(0);
        let members: Vec<&str> = successors.iter().copied().chain(["a"]).collect();
        let seen = Answer::held(version("a", 4, 9)).view(view("a", (4, 1), &members, successors));
        node.answer(0, seen);
        node
    }

    /// A follower with the usual settings, the first successor.
    pub fn follower() -> Self {
        Self::follower_with(settings(), &[ME, "z"])
    }

    /// Hands an input over.
    pub fn handle(&mut self, now: u64, input: Input) -> Vec<Action> {
        let actions = self.core.handle(at(now), input);
        for action in &actions {
            if let Action::Send { id, request, .. } = action {
                let kind = match request {
                    Request::Beat(_) => "beat",
                    other => other.kind(),
                };
                self.out.insert(kind, *id);
            }
        }
        actions
    }

    /// The process is up.
    pub fn start(&mut self, now: u64) -> Vec<Action> {
        self.handle(now, Input::Start)
    }

    /// A timer falls due.
    pub fn due(&mut self, now: u64, timer: Timer) -> Vec<Action> {
        self.handle(now, Input::Timer(timer))
    }

    /// The id of the last request of this kind: beat, members, publish-view, release, leave, ask.
    pub fn sent(&self, kind: &str) -> RequestId {
        *self.out.get(kind).expect("the test has seen such a request")
    }

    /// The store answers the last beat.
    pub fn answer(&mut self, now: u64, answer: Answer) -> Vec<Action> {
        let reply = Reply::Beat(answer.into_reply());
        self.handle(now, Input::Replied { id: self.sent("beat"), reply })
    }

    /// The last request of this kind gets no answer.
    pub fn fail(&mut self, now: u64, kind: &str, failure: Failure) -> Vec<Action> {
        self.handle(now, Input::Failed { id: self.sent(kind), failure })
    }

    /// The store lists the node records.
    pub fn members(&mut self, now: u64, members: Vec<Member>) -> Vec<Action> {
        let reply = Reply::Members(members);
        self.handle(now, Input::Replied { id: self.sent("members"), reply })
    }

    /// The store says what became of the last request of this kind.
    pub fn done(&mut self, now: u64, kind: &str, outcome: Outcome) -> Vec<Action> {
        let reply = Reply::Done(outcome);
        self.handle(now, Input::Replied { id: self.sent(kind), reply })
    }

    /// A push arrives.
    pub fn hint(&mut self, now: u64, hint: Hint) -> Vec<Action> {
        self.handle(now, Input::Hint(hint))
    }

    /// Something was seen of the lifeline of this node, which is on another host.
    pub fn lifeline(&mut self, now: u64, name: &str, report: LifelineReport) -> Vec<Action> {
        self.handle(now, Input::Lifeline { boot: boot(name), report, own_host: false })
    }

    /// Something was seen of the lifeline of this node, which is on this very host.
    pub fn own_lifeline(&mut self, now: u64, name: &str, report: LifelineReport) -> Vec<Action> {
        self.handle(now, Input::Lifeline { boot: boot(name), report, own_host: true })
    }

    /// The application or an operator asks something of the node.
    pub fn command(&mut self, now: u64, command: Command) -> Vec<Action> {
        self.handle(now, Input::Command(command))
    }

    /// The term's work is proved stopped.
    pub fn stopped(&mut self, now: u64, epoch: u64) -> Vec<Action> {
        self.handle(now, Input::TermStopped { epoch: Epoch(epoch) })
    }
}

/// A request to the leader, the first that its asker made.
pub fn ask(by: &str, wish: HandoverKind) -> Ask {
    Ask { nonce: Nonce { boot: boot(by), attempt: 1 }, wish }
}
