//! The state machine of one node in one namespace.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use crate::action::Action;
use crate::beat::{Attempts, InFlight};
use crate::deaths::Deaths;
use crate::election::candidacy::{IdHolder, Standing};
use crate::election::cold_start::ColdStart;
use crate::election::leading::{Stage, Term};
use crate::election::mandate::Mandate;
use crate::election::observed_lease::ObservedLease;
use crate::election::transfer::DoubtfulTransfer;
use crate::event::Event;
use crate::guard::breaker::Breaker;
use crate::guard::contention::Contention;
use crate::guard::fence::EpochFence;
use crate::guard::flap::FlapWatch;
use crate::hints::WatchedLifeline;
use crate::ids::{BootId, Epoch, NodeId, Nonce};
use crate::input::{Command, Input};
use crate::lease::{LeaseTerms, Window};
use crate::membership::{PartitionMessages, Registry};
use crate::metrics::{Leaderless, Metrics};
use crate::protocol::{Failure, NodeProfile, Outcome, Reply, RequestId, Version, View};
use crate::rng::Rng;
use crate::settings::{InvalidSettings, Settings};
use crate::time::Moment;
use crate::timer::Timer;

/// The name, the process and the profile of a node.
#[derive(Clone, Debug, Hash)]
pub struct Identity {
    /// Its stable name.
    pub id: NodeId,
    /// Fresh for this start of the process.
    pub boot: BootId,
    /// What it says of itself and never changes.
    pub profile: Arc<NodeProfile>,
}

/// Decides for one node. Without I/O, clock or random source of its own.
///
/// Calling order: [`Core::new`], then `handle(now, Input::Start)`, then `handle` for everything
/// that happens, with a `now` that never goes back, until [`Action::Halt`]. The actions of each
/// call are carried out in order before the next call. Getters may be called at any time, with the
/// time of the question.
#[derive(Clone, Debug)]
pub struct Core {
    pub(crate) me: Identity,
    pub(crate) settings: Arc<Settings>,
    pub(crate) lease_terms: LeaseTerms,
    pub(crate) rng: Rng,
    pub(crate) started: bool,
    pub(crate) halted: bool,
    pub(crate) leaving: bool,
    /// Do services run on this node? Its record stays, and it beats, until they have stopped.
    pub(crate) serving: bool,
    pub(crate) superseded: bool,
    pub(crate) left: bool,
    pub(crate) registered: bool,
    pub(crate) id_holder: Option<IdHolder>,
    pub(crate) replaces: Option<BootId>,
    pub(crate) standing: Standing,
    pub(crate) in_flight: InFlight,
    pub(crate) attempts: Attempts,
    pub(crate) observed: ObservedLease,
    /// What this node holds of the lease; a follower holds nothing.
    pub(crate) term: Option<Term>,
    pub(crate) last_ended: Epoch,
    pub(crate) cold_start: ColdStart,
    /// How long this node waits beyond the last rank, should it have none.
    pub(crate) tail_delay: Duration,
    pub(crate) campaigning_since: Option<Moment>,
    pub(crate) heeded_ask: Option<Nonce>,
    pub(crate) transfer_in_doubt: Option<DoubtfulTransfer>,
    pub(crate) reported_down: Option<Version>,
    pub(crate) deaths: Deaths,
    pub(crate) registry: Registry,
    pub(crate) partitions: PartitionMessages,
    pub(crate) view: Option<Arc<View>>,
    /// This node's place in the view's line, found once: a large view takes a while to search.
    pub(crate) view_rank: Option<u32>,
    pub(crate) watching: BTreeMap<BootId, WatchedLifeline>,
    pub(crate) reported_leader: Option<(Option<NodeId>, Epoch)>,
    /// The last term whose leader knows of this node, or was told.
    pub(crate) known_in_term: Epoch,
    pub(crate) fence: EpochFence,
    pub(crate) flap: FlapWatch,
    pub(crate) contention: Contention,
    pub(crate) metrics: Metrics,
    pub(crate) leaderless: Leaderless,
    pub(crate) timers: [Option<Moment>; Timer::ALL.len()],
    pub(crate) out: Vec<Action>,
}

/// Everything that can decide something: two cores with equal hashes behave alike. A new field has
/// to be named here, or this does not compile.
impl Hash for Core {
    fn hash<H: Hasher>(&self, state: &mut H) {
        #[rustfmt::skip]
        let Self {
            me, rng, started, halted, leaving, serving, superseded, left, registered,
            id_holder, replaces, standing, in_flight, attempts, observed, term, last_ended,
            cold_start, tail_delay, campaigning_since, heeded_ask, transfer_in_doubt,
            reported_down, deaths, registry, partitions, view, view_rank, watching, reported_leader,
            known_in_term, fence, flap, contention, timers,
            // Settings never change, figures for people decide nothing, actions were handed over.
            settings: _, lease_terms: _, metrics: _, leaderless: _, out: _,
        } = self;
        (me, rng, started, halted, leaving, serving, superseded, left, registered).hash(state);
        (id_holder, replaces, standing, in_flight, attempts, observed, term).hash(state);
        (last_ended, cold_start, tail_delay, campaigning_since, heeded_ask).hash(state);
        (transfer_in_doubt, reported_down, deaths, registry, partitions).hash(state);
        (view, view_rank).hash(state);
        (watching, reported_leader, known_in_term, fence, flap, contention, timers).hash(state);
    }
}

impl Core {
    /// A node that has not started. `seed` decides its jitter and nothing else.
    pub fn new(me: Identity, settings: Arc<Settings>, seed: u64) -> Result<Self, InvalidSettings> {
        settings.check()?;
        let lease_terms = settings.lease_terms();
        let breaker = &settings.circuit_breaker;
        let breaker = Breaker::new(
            breaker.failure_threshold,
            settings.probe_after(),
            breaker.half_open_max_attempts,
        );
        Ok(Self {
            me,
            lease_terms,
            rng: Rng::new(seed),
            started: false,
            halted: false,
            leaving: false,
            serving: false,
            superseded: false,
            left: false,
            registered: false,
            id_holder: None,
            replaces: None,
            standing: Standing {
                eligible: settings.eligible,
                healthy: true,
                recovering: false,
                draining: false,
                load: 0,
            },
            in_flight: InFlight::new(breaker, settings.heartbeat_interval),
            attempts: Attempts::default(),
            observed: ObservedLease::new(lease_terms),
            term: None,
            last_ended: Epoch::NONE,
            cold_start: ColdStart::default(),
            tail_delay: Duration::ZERO,
            campaigning_since: None,
            heeded_ask: None,
            transfer_in_doubt: None,
            reported_down: None,
            deaths: Deaths::default(),
            registry: Registry::new(settings.worker_timeout, settings.dead_node_timeout),
            partitions: PartitionMessages::default(),
            view: None,
            view_rank: None,
            watching: BTreeMap::new(),
            reported_leader: None,
            known_in_term: Epoch::NONE,
            fence: EpochFence::new(settings.epoch_fencing_enabled, settings.epoch_grace_period),
            flap: FlapWatch::new(settings.flap_threshold, settings.flap_window),
            contention: Contention::default(),
            metrics: Metrics::new(settings.metrics_buffer_size),
            leaderless: Leaderless::default(),
            timers: [None; Timer::ALL.len()],
            out: Vec::new(),
            settings,
        })
    }

    /// Takes in something that happened at `now` and returns what is to be done about it.
    #[must_use = "actions that are not carried out are lost"]
    pub fn handle(&mut self, now: Moment, input: Input) -> Vec<Action> {
        if self.halted {
            return Vec::new();
        }
        let led_until = self.led_until();
        self.leaderless.count(now, led_until);
        self.mind_deadlines(now);
        self.apply(now, input);
        if self.settings.enabled && self.started {
            self.mind_claim(now);
            self.mind_lifeline();
        }
        if self.leaving {
            self.mind_leave();
        }
        self.assert_invariants(now);
        std::mem::take(&mut self.out)
    }

    fn apply(&mut self, now: Moment, input: Input) {
        match input {
            Input::Start => self.start(now),
            Input::Timer(timer) => self.timer_due(now, timer),
            Input::Replied { id, reply } => self.replied(now, id, reply),
            Input::Failed { id, failure } => self.failed(now, id, failure),
            Input::Hint(hint) => self.hinted(now, hint),
            Input::Lifeline { boot, report, own_host } => {
                self.lifeline_seen(now, (boot, report), own_host);
            }
            Input::TermStarted { .. } => {}
            Input::TermFailed { epoch } => {
                if self.term().is_some_and(|term| term.epoch() == epoch) {
                    self.plugins_failed(now);
                }
            }
            Input::TermStopped { epoch } => self.term_stopped(now, epoch),
            Input::ServicesRun(run) => self.serving = run,
            Input::ReportPartitions(report) => self.report_partitions(now, report),
            Input::Assigned { epoch, versions } => self.assigned(now, epoch, versions),
            Input::Invited => self.invited(now),
            Input::ClockLeapt { by } => self.clock_leapt(now, by),
            Input::Command(command) => self.commanded(now, command),
        }
    }

    fn start(&mut self, now: Moment) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        self.metrics.report.start_time = now;
        self.leaderless.started(now);
        self.cold_start.since = now;
        self.in_flight.due = now;
        if !self.settings.enabled {
            return self.lead_alone(now);
        }
        self.draw_tail_delay();
        self.set_timer(Timer::ElectionCheck, now + self.settings.election_interval);
        self.send_beat(now, None);
    }

    /// Single-instance mode: a term without a lease, for as long as the process lasts.
    fn lead_alone(&mut self, now: Moment) {
        let nonce = Nonce { boot: self.me.boot, attempt: 0 };
        let version = Version { epoch: self.last_ended.next(), nonce };
        let window = Window::ENDLESS;
        let mandate = Mandate::begin(now);
        self.term = Some(Term { version, window, stage: Stage::Opening, mandate });
        self.fence.observe(now, version.epoch);
        self.open_term(now);
    }

    fn timer_due(&mut self, now: Moment, timer: Timer) {
        // One that was taken back has nothing to say, and one that was moved is not due yet.
        let Some(at) = self.timers[timer as usize].take() else { return };
        if now < at {
            return self.set_timer(timer, at);
        }
        match timer {
            Timer::Beat => self.beat_due(now),
            // Deadlines are minded before every input, claims after it.
            Timer::Takeover | Timer::Soft | Timer::Hard => {}
            Timer::ColdStart => self.cold_start_due(now),
            Timer::ElectionCheck => {
                self.emit(Event::ElectionCheck { current: self.leader(now).cloned() });
                self.set_timer(Timer::ElectionCheck, now + self.settings.election_interval);
            }
            Timer::Recover => {
                self.standing.recovering = false;
                if self.settings.enabled {
                    self.beat_soon(now);
                } else {
                    self.lead_alone(now);
                }
            }
        }
    }

    fn replied(&mut self, now: Moment, id: RequestId, reply: Reply) {
        match reply {
            Reply::Beat(reply) => self.beat_replied(now, id, reply),
            Reply::Members(members) => {
                let waiting = self.in_flight.members.take_if(|(waiting, _)| *waiting == id);
                if let Some((_, sent)) = waiting {
                    self.members_read(now, sent, members);
                    self.read_again(now);
                }
            }
            Reply::Done(outcome) => self.done(now, id, outcome),
        }
    }

    fn done(&mut self, now: Moment, id: RequestId, outcome: Outcome) {
        if let Some((_, view)) = self.in_flight.publish.take_if(|(waiting, _)| *waiting == id) {
            self.view_published(now, outcome, view);
        } else if let Some((_, version, successor)) =
            self.in_flight.release.take_if(|(waiting, ..)| *waiting == id)
        {
            self.release_done(now, outcome, version, successor);
        } else if self.in_flight.leave.take_if(|waiting| *waiting == id).is_some() {
            self.left = true;
            self.notify_of_leaving();
        } else if self.in_flight.removal.take_if(|waiting| *waiting == id).is_some() {
            self.take_out_next();
        } else if self.in_flight.ask.take_if(|waiting| *waiting == id).is_some() {
            self.beat_soon(now);
        }
    }

    fn failed(&mut self, now: Moment, id: RequestId, failure: Failure) {
        if self.in_flight.members.take_if(|(waiting, _)| *waiting == id).is_some() {
            self.in_flight.read_cadence.is_still = false;
            self.in_flight.members_again = false;
            self.cold_start_unread(now);
            self.decide_transfer(now);
            return;
        }
        self.beat_failed(now, id, failure);
        self.done(now, id, Outcome::Unknown);
    }

    fn commanded(&mut self, now: Moment, command: Command) {
        // Single-instance mode has no other node to hand over to.
        let alone = !self.settings.enabled;
        match command {
            Command::Resign | Command::Transfer { .. } | Command::EnsureCoordinator { .. }
                if alone => {}
            Command::Resign => self.resign(now),
            Command::Transfer { to } => self.transfer(now, to),
            Command::EnsureCoordinator { force, desired } => {
                self.ensure_coordinator(now, force, desired);
            }
            Command::SetEligible(eligible) => {
                self.standing.eligible = eligible;
                self.standing_changed(now);
            }
            Command::SetHealthy(healthy) => {
                self.standing.healthy = healthy;
                self.standing_changed(now);
            }
            Command::SetDraining(draining) => {
                self.standing.draining = draining;
                self.standing_changed(now);
            }
            Command::SetLoad(load) => self.standing.load = load,
            Command::Leave => self.leave(now),
        }
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.out.push(Action::Emit(event));
    }

    pub(crate) fn set_timer(&mut self, timer: Timer, at: Moment) {
        if at == Moment::NEVER || self.timers[timer as usize] == Some(at) {
            return;
        }
        self.timers[timer as usize] = Some(at);
        self.out.push(Action::SetTimer { timer, at });
    }

    pub(crate) fn cancel_timer(&mut self, timer: Timer) {
        if self.timers[timer as usize].take().is_some() {
            self.out.push(Action::CancelTimer(timer));
        }
    }
}
