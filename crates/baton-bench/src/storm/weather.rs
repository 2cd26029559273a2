//! The storm: strikes when a fault is due, and relieves whoever was struck when that is due.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use baton::{Moment, NodeId};
use baton_core::rng::Rng;
use baton_store::clock::{Clock, SystemClock};

use super::fault::{Fault, Kind};
use crate::error::BenchError;
use crate::report::Report;
use crate::site::Stage;

/// At most one in so many processes is down at the same time.
const DOWN_ONE_IN: usize = 4;

/// How often everybody is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Before whoever has not ended yet, or has ended by itself, is looked at again.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// What helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relief {
    Resume,
    Restart,
}

/// How often what was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    faults: BTreeMap<Kind, u32>,
    at_leader: u32,
    ended_by_themselves: u32,
}

impl Counts {
    fn of(&self, kind: Kind) -> u32 {
        self.faults.get(&kind).copied().unwrap_or_default()
    }

    /// Every kind of fault must have come.
    pub fn tell(&self, report: &mut Report) {
        let rarest = Kind::ALL.map(|kind| self.of(kind)).into_iter().min().unwrap_or_default();
        report.must("faults of the rarest kind", rarest > 0, rarest.to_string(), "some");
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [kill, term, short, long] = Kind::ALL.map(|kind| self.of(kind));
        write!(
            f,
            "{kill} killed, {term} ended, {short} paused for less and\n{long} for more than a \
             lease, {} of these while they led; {} ended by themselves",
            self.at_leader, self.ended_by_themselves
        )
    }
}

/// Who is struck, and who waits for relief.
pub struct Weather<'a> {
    stage: &'a mut Stage,
    rng: Rng,
    down: BTreeMap<NodeId, (Moment, Relief)>,
    counts: Counts,
}

impl<'a> Weather<'a> {
    pub fn new(stage: &'a mut Stage, rng: Rng) -> Self {
        Self { stage, rng, down: BTreeMap::new(), counts: Counts::default() }
    }

    pub fn counts(&self) -> Counts {
        self.counts.clone()
    }

    /// Strikes for so long.
    pub async fn storm(&mut self, lasts: Duration) -> Result<(), BenchError> {
        let ends_at = SystemClock.now() + lasts;
        let mut strike_at = SystemClock.now();
        let mut look_at = SystemClock.now();
        while SystemClock.now() < ends_at {
            let now = SystemClock.now();
            if now >= strike_at {
                strike_at = now + self.strike().await?;
            }
            if now >= look_at {
                self.look_round(now)?;
                look_at = now + LOOK_EVERY;
            }
            self.relieve(now)?;
            let relief = self.down.values().map(|(at, _)| *at).min().unwrap_or(Moment::NEVER);
            let wake = strike_at.min(look_at).min(relief).min(ends_at);
            SystemClock.sleep(wake.since(SystemClock.now())).await;
        }
        Ok(())
    }

    /// Relieves whoever is down, until nobody is.
    pub async fn relieve_all(&mut self) -> Result<(), BenchError> {
        while !self.down.is_empty() {
            let now = SystemClock.now();
            self.down.values_mut().for_each(|(at, _)| *at = now);
            self.relieve(now)?;
            self.look_round(now)?;
            SystemClock.sleep(AGAIN_AFTER).await;
        }
        Ok(())
    }

    /// One fault. Says after how long the next one comes.
    async fn strike(&mut self) -> Result<Duration, BenchError> {
        let fault = Fault::draw(&mut self.rng);
        let leader = self.stage.cluster.lead().await?.map(|lead| lead.node);
        let leader = leader.filter(|node| !self.down.contains_key(node));
        let is_up = |name: &&NodeId| !self.down.contains_key(*name);
        let up: Vec<&NodeId> = self.stage.names.iter().filter(is_up).collect();
        if self.down.len() * DOWN_ONE_IN >= self.stage.names.len() || up.is_empty() {
            return Ok(fault.then);
        }
        let anybody = up[(fault.pick % up.len() as u64) as usize];
        let victim = leader.as_ref().filter(|_| fault.at_leader).unwrap_or(anybody).clone();
        let member = self.stage.cluster.member(&victim)?;
        let relief = match fault.kind {
            Kind::Kill => member.kill().map(|()| Relief::Restart)?,
            Kind::Term => member.terminate().map(|()| Relief::Restart)?,
            Kind::ShortPause | Kind::LongPause => member.pause().map(|()| Relief::Resume)?,
        };
        *self.counts.faults.entry(fault.kind).or_default() += 1;
        self.counts.at_leader += u32::from(leader.as_ref() == Some(&victim));
        self.down.insert(victim, (SystemClock.now() + fault.lasts, relief));
        Ok(fault.then)
    }

    /// Whoever has ended without being asked is started again, and counted.
    fn look_round(&mut self, now: Moment) -> Result<(), BenchError> {
        for name in &self.stage.names {
            if !self.down.contains_key(name) && !self.stage.cluster.member(name)?.runs()? {
                self.counts.ended_by_themselves += 1;
                self.down.insert(name.clone(), (now + AGAIN_AFTER, Relief::Restart));
            }
        }
        Ok(())
    }

    fn relieve(&mut self, now: Moment) -> Result<(), BenchError> {
        let due = |(_, (at, _)): &(&NodeId, &(Moment, Relief))| *at <= now;
        let due: Vec<(NodeId, Relief)> = self
            .down
            .iter()
            .filter(due)
            .map(|(name, (_, relief))| (name.clone(), *relief))
            .collect();
        for (name, relief) in due {
            let member = self.stage.cluster.member(&name)?;
            match relief {
                Relief::Resume => member.resume()?,
                Relief::Restart if member.runs()? => {
                    self.down.insert(name, (now + AGAIN_AFTER, relief));
                    continue;
                }
                Relief::Restart => self.stage.cluster.start(&name)?,
            }
            self.down.remove(&name);
        }
        Ok(())
    }
}
