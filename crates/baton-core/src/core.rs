//! The state machine of one node in one namespace.

use std::sync::Arc;
use std::time::Duration;

use crate::action::{Action, Actions};
use crate::beat::{Attempts, Bid, Link};
use crate::election::candidacy::{Rival, Standing};
use crate::election::cold_start::ColdStart;
use crate::election::leading::{Role, Stage, Term};
use crate::election::mandate::Mandate;
use crate::election::sight::Sight;
use crate::event::{Event, Phase};
use crate::guard::breaker::{Breaker, BreakerStatus};
use crate::guard::contention::Contention;
use crate::guard::fence::EpochFence;
use crate::guard::flap::FlapWatch;
use crate::ids::{BootId, Epoch, NodeId, Nonce};
use crate::input::{Command, Input, LifelineReport};
use crate::lease::{LeaseTerms, Window};
use crate::membership::Registry;
use crate::metrics::{Metrics, MetricsReport};
use crate::planted::planted;
use crate::protocol::{
    Claim, Failure, Hint, NodeProfile, Outcome, Reply, RequestId, Version, View,
};
use crate::rng::Rng;
use crate::settings::{Contradiction, Settings};
use crate::time::Moment;
use crate::timer::Timer;

/// Who a node is.
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
    pub(crate) terms: LeaseTerms,
    pub(crate) rng: Rng,
    pub(crate) started: bool,
    pub(crate) halted: bool,
    pub(crate) leaving: bool,
    pub(crate) superseded: bool,
    pub(crate) registered: bool,
    pub(crate) rival: Option<Rival>,
    pub(crate) replaces: Option<BootId>,
    pub(crate) standing: Standing,
    pub(crate) link: Link,
    pub(crate) attempts: Attempts,
    pub(crate) sight: Sight,
    pub(crate) role: Role,
    pub(crate) last_ended: Epoch,
    pub(crate) cold: ColdStart,
    pub(crate) tail: Duration,
    pub(crate) campaigning_since: Option<Moment>,
    pub(crate) heeded: Option<crate::protocol::Ask>,
    pub(crate) registry: Registry,
    pub(crate) view: Option<Arc<View>>,
    pub(crate) watching: Option<BootId>,
    pub(crate) told_leader: Option<(Option<NodeId>, Epoch)>,
    pub(crate) fence: EpochFence,
    pub(crate) flap: FlapWatch,
    pub(crate) contention: Contention,
    pub(crate) metrics: Metrics,
    pub(crate) timers: [Option<Moment>; Timer::ALL.len()],
    pub(crate) out: Actions,
}

impl Core {
    /// A node that has not started. `seed` decides its jitter and nothing else.
    pub fn new(me: Identity, settings: Arc<Settings>, seed: u64) -> Result<Self, Contradiction> {
        settings.check()?;
        let terms = settings.lease_terms();
        let breaker = &settings.circuit_breaker;
        let breaker = Breaker::new(
            breaker.failure_threshold,
            settings.probe_after(),
            breaker.half_open_max_attempts,
        );
        Ok(Self {
            me,
            terms,
            rng: Rng::new(seed),
            started: false,
            halted: false,
            leaving: false,
            superseded: false,
            registered: false,
            rival: None,
            replaces: None,
            standing: Standing {
                eligible: settings.eligible,
                healthy: true,
                recovering: false,
                draining: false,
                load: 0,
            },
            link: Link::new(breaker),
            attempts: Attempts::default(),
            sight: Sight::new(terms),
            role: Role::Follower,
            last_ended: Epoch::NONE,
            cold: ColdStart::new(),
            tail: Duration::ZERO,
            campaigning_since: None,
            heeded: None,
            registry: Registry::new(settings.worker_timeout, settings.dead_node_timeout),
            view: None,
            watching: None,
            told_leader: None,
            fence: EpochFence::new(settings.epoch_fencing_enabled, settings.epoch_grace_period),
            flap: FlapWatch::new(settings.flap_threshold, settings.flap_window),
            contention: Contention::default(),
            metrics: Metrics::new(settings.metrics_buffer_size),
            timers: [None; Timer::ALL.len()],
            out: Actions::default(),
            settings,
        })
    }

    /// Takes in something that happened at `now` and returns what is to be done about it.
    pub fn handle(&mut self, now: Moment, input: Input) -> Actions {
        if self.halted {
            return Actions::default();
        }
        self.mind_deadlines(now);
        self.take_in(now, input);
        if !self.halted && self.settings.enabled && self.started {
            self.mind_claim(now);
            self.mind_lifeline();
        }
        std::mem::take(&mut self.out)
    }

    fn take_in(&mut self, now: Moment, input: Input) {
        match input {
            Input::Start => self.start(now),
            Input::Timer(timer) => self.timer_due(now, timer),
            Input::Replied { id, reply } => self.replied(now, id, reply),
            Input::Failed { id, failure } => self.failed(now, id, failure),
            Input::Hint(hint) => self.hinted(now, hint),
            Input::Lifeline { boot, report } => self.lifeline_seen(now, boot, report),
            Input::TermStarted { .. } => {}
            Input::TermFailed { epoch } => {
                if self.term().is_some_and(|term| term.epoch() == epoch) {
                    self.plugins_failed(now);
                }
            }
            Input::TermStopped { epoch } => self.term_stopped(now, epoch),
            Input::Command(command) => self.commanded(now, command),
        }
    }

    fn start(&mut self, now: Moment) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        self.metrics.started(now);
        if !self.settings.enabled {
            return self.lead_alone(now);
        }
        self.draw_tail();
        self.set_timer(Timer::ElectionCheck, now + self.settings.election_interval);
        self.send_beat(now, None);
    }

    /// Single-instance mode: a term without a lease, for as long as the process lasts.
    fn lead_alone(&mut self, now: Moment) {
        let nonce = Nonce { boot: self.me.boot, attempt: 0 };
        let version = Version { epoch: Epoch(1), nonce };
        let window = Window::ENDLESS;
        let mandate = Mandate::begin(now);
        self.role = Role::Holding(Term { version, window, stage: Stage::Opening, mandate });
        self.fence.saw(now, version.epoch);
        self.open_term(now);
    }

    fn timer_due(&mut self, now: Moment, timer: Timer) {
        self.timers[timer as usize] = None;
        match timer {
            Timer::Beat => self.beat_due(now),
            // Both are minded before and after every input.
            Timer::Takeover | Timer::Soft | Timer::Hard => {}
            Timer::ColdStart => self.cold_start_due(now),
            Timer::ElectionCheck => {
                self.emit(Event::ElectionCheck { current: self.leader(now).cloned() });
                self.set_timer(Timer::ElectionCheck, now + self.settings.election_interval);
            }
            Timer::Recover => {
                self.standing.recovering = false;
                self.beat_soon(now);
            }
        }
    }

    fn replied(&mut self, now: Moment, id: RequestId, reply: Reply) {
        match reply {
            Reply::Beat(reply) => self.beat_replied(now, id, reply),
            Reply::Members(members) => {
                if self.link.members.take_if(|waiting| *waiting == id).is_some() {
                    self.members_read(now, members);
                }
            }
            Reply::Done(outcome) => self.done(now, id, outcome),
        }
    }

    fn done(&mut self, now: Moment, id: RequestId, outcome: Outcome) {
        if let Some((_, view)) = self.link.publish.take_if(|(waiting, _)| *waiting == id) {
            self.view_published(now, outcome, view);
        } else if let Some((_, version, successor)) =
            self.link.release.take_if(|(waiting, ..)| *waiting == id)
        {
            self.release_done(now, outcome, version, successor);
        } else if self.link.leave.take_if(|waiting| *waiting == id).is_some() {
            self.halt_if_done();
        } else if self.link.ask.take_if(|waiting| *waiting == id).is_some() {
            self.beat_soon(now);
        }
    }

    fn failed(&mut self, now: Moment, id: RequestId, failure: Failure) {
        if self.link.members.take_if(|waiting| *waiting == id).is_some() {
            self.cold_start_unread(now);
            return;
        }
        self.beat_failed(now, id, failure);
        self.done(now, id, Outcome::Unknown);
    }

    fn hinted(&mut self, now: Moment, hint: Hint) {
        match hint {
            Hint::Look => self.look_sooner(now),
            // A view is not urgent: the next beat brings it.
            Hint::ViewMoved => {}
            Hint::Released { version, successor } => {
                #[cfg(baton_bugs)]
                if planted!(HintTakenAsTruth) {
                    self.sight.believe_free(now);
                }
                let named = successor.as_ref() == Some(&self.me.id);
                let news = version.epoch >= self.sight.highest();
                let suspect_until = self.sight.suspect_until().filter(|_| !planted!(HintSkipsWait));
                let settled = suspect_until.is_none_or(|until| now >= until);
                let free = self.may_campaign() && self.link.beat.is_none();
                if named && news && settled && free {
                    // The store checks that it is vacant and at this version: nothing is believed.
                    let bid = Bid { claim: Claim::Vacant, expect: Some(version) };
                    self.send_beat(now, Some(bid));
                } else {
                    self.look_sooner(now);
                }
            }
            Hint::Prepare { .. } => self.out.push(Action::Prepare),
        }
    }

    /// Heeds a hint, if this node has a part in what comes next: a thousand followers that look at
    /// the same moment would be a stampede.
    fn look_sooner(&mut self, now: Moment) {
        let near = self.rank().is_none_or(|rank| rank < self.settings.lifeline_successors);
        if near || self.term().is_some() {
            self.beat_soon(now);
        }
    }

    fn lifeline_seen(&mut self, now: Moment, boot: BootId, report: LifelineReport) {
        if report == LifelineReport::Alive {
            return;
        }
        if report.proves_death_of(boot) && self.sight.proved_dead(now, boot) {
            let holder = self.sight.lease().and_then(|lease| lease.holder.clone());
            if let Some(holder) = holder {
                self.emit(Event::LeaderDown { former: holder.node, proved: true });
            }
        } else {
            self.beat_soon(now);
        }
    }

    /// Keeps the first successors connected to the coordinator's lifeline, and a restarted node to
    /// its past self's.
    fn mind_lifeline(&mut self) {
        let near = self.rank().is_none_or(|rank| rank < self.settings.lifeline_successors);
        let holder = self.sight.lease().and_then(|lease| lease.holder.as_ref());
        let target = holder
            .filter(|holder| holder.boot != self.me.boot)
            .filter(|holder| holder.node == self.me.id || near)
            .filter(|_| self.is_candidate() && !self.leaving)
            .and_then(|holder| holder.lifeline.clone().map(|address| (holder.boot, address)));
        let wanted = target.as_ref().map(|(boot, _)| *boot);
        if wanted == self.watching {
            return;
        }
        self.watching = wanted;
        self.out.push(match target {
            Some((boot, address)) => Action::WatchLifeline { boot, address },
            None => Action::UnwatchLifeline,
        });
    }

    fn commanded(&mut self, now: Moment, command: Command) {
        match command {
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

/// What can be asked of a node at any time.
impl Core {
    /// Who this node is.
    pub fn identity(&self) -> &Identity {
        &self.me
    }

    /// The settings it runs with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Does this node coordinate at `now`? Computed from the clock at each call.
    pub fn is_leader(&self, now: Moment) -> bool {
        let running = self.term().filter(|term| term.stage == Stage::Running);
        running.is_some_and(|term| planted!(CachedIsLeader) || term.window.is_open(now))
    }

    /// May the coordinator's work start something new at `now`?
    pub fn may_start_work(&self, now: Moment, epoch: Epoch) -> bool {
        let running = self.term().filter(|term| term.stage == Stage::Running);
        running.is_some_and(|term| {
            term.epoch() == epoch && (planted!(CachedIsLeader) || term.window.may_start(now))
        })
    }

    /// The open trust window at `now`, and its epoch: whatever of the term runs may act until then.
    pub fn window(&self, now: Moment) -> Option<(Epoch, Window)> {
        let term = self.term().filter(|term| term.is_active())?;
        term.window.is_open(now).then_some((term.epoch(), term.window))
    }

    /// The term whose record names this process, open or not.
    pub fn held_epoch(&self) -> Option<Epoch> {
        self.term().map(Term::epoch)
    }

    /// The highest epoch of this process's own that is over.
    pub fn ended_epoch(&self) -> Epoch {
        self.last_ended
    }

    /// Who coordinates, as far as this node knows.
    pub fn leader(&self, now: Moment) -> Option<&NodeId> {
        if !self.settings.enabled || self.is_leader(now) {
            return Some(&self.me.id);
        }
        let live = self.sight.is_live(now);
        self.sight.lease().filter(|_| live)?.holder.as_ref().map(|holder| &holder.node)
    }

    /// The live nodes, as the last view has them.
    pub fn active_workers(&self) -> impl Iterator<Item = &NodeId> {
        self.view.iter().flat_map(|view| view.members.iter().map(|member| &member.id))
    }

    /// The last view.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.view.as_ref()
    }

    /// The highest epoch this node knows of.
    pub fn known_epoch(&self) -> Epoch {
        self.fence.known()
    }

    /// Is a task of this epoch, which came into being here at `created_at`, still acceptable?
    pub fn is_epoch_valid(&mut self, now: Moment, epoch: Epoch, created_at: Moment) -> bool {
        self.fence.is_valid(now, epoch, created_at)
    }

    /// How far the cold start has come.
    pub fn phase(&self) -> Phase {
        self.cold.phase()
    }

    /// Counts and percentiles.
    pub fn metrics(&self) -> MetricsReport {
        self.metrics.report()
    }

    /// The state of the breaker.
    pub fn circuit_breaker_status(&self) -> BreakerStatus {
        self.link.breaker.status()
    }
}
