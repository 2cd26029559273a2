//! One random life: writers append, repeat and die, leaders come and go.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ids::{BootId, Epoch, Namespace};
use baton_core::rng::Rng;
use baton_store::clock::ManualClock;
use baton_store::memory::MemoryStore;
use baton_store::{
    Capability, Change, Class, CounterAnswer, CounterCall, CounterName, Declaration, Delta,
    ExpiryClock, Store,
};

const STEPS: u64 = 300;
const COUNTERS: [&str; 3] = ["a", "b", "c"];
const KEPT: Duration = Duration::from_secs(60);

/// What is wrong with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    Nothing,
    AppliesWithoutMarking,
    TakesRepeatsForNew,
}

struct Writer {
    boot: BootId,
    number: u64,
    /// The last append, which may be repeated for as long as it is kept in mind.
    last: Vec<Delta>,
    may_repeat: bool,
}

/// A life, and what it ought to have come to.
pub struct Life {
    store: MemoryStore,
    clock: Arc<ManualClock>,
    namespace: Namespace,
    rng: Rng,
    planted: Planted,
    writers: Vec<Writer>,
    boots: u128,
    epoch: u64,
    model: BTreeMap<&'static str, i64>,
    found: BTreeMap<&'static str, i64>,
    repeats: u64,
}

impl Life {
    /// Lives the life of this seed.
    pub async fn lived(seed: u64, planted: Planted) -> Self {
        let declaration = Declaration {
            name: "memory".to_owned(),
            class: Class::SingleServer,
            expiry: ExpiryClock::Store,
            capabilities: Capability::ALL.into(),
        };
        let clock = Arc::new(ManualClock::default());
        let store = MemoryStore::new(declaration, clock.clone());
        let mut life = Self {
            store,
            clock,
            namespace: Namespace::new("life").expect("it is a name"),
            rng: Rng::new(seed),
            planted,
            writers: Vec::new(),
            boots: 0,
            epoch: 1,
            model: BTreeMap::new(),
            found: BTreeMap::new(),
            repeats: 0,
        };
        for _ in 0..3 {
            life.begin_writer();
        }
        for _ in 0..STEPS {
            life.act().await;
        }
        life.settle().await;
        life
    }

    /// Does one of the first lives come to something else than it ought to?
    pub async fn some_is_wrong(planted: Planted) -> bool {
        for seed in 0..50 {
            let life = Self::lived(seed, planted).await;
            if life.found() != life.wanted() {
                return true;
            }
        }
        false
    }

    pub fn found(&self) -> &BTreeMap<&'static str, i64> {
        &self.found
    }

    pub fn wanted(&self) -> &BTreeMap<&'static str, i64> {
        &self.model
    }

    pub fn repeats(&self) -> u64 {
        self.repeats
    }

    fn begin_writer(&mut self) {
        self.boots += 1;
        let writer =
            Writer { boot: BootId(self.boots), number: 0, last: Vec::new(), may_repeat: false };
        self.writers.push(writer);
    }

    async fn act(&mut self) {
        match self.rng.below(10) {
            0..=3 => self.append().await,
            4 | 5 => self.repeat().await,
            6 | 7 => self.consolidate(self.epoch).await,
            8 => match self.rng.below(4) {
                0 => self.consolidate(self.epoch - 1).await,
                1 => self.epoch += 1,
                2 => self.crash_writer(),
                _ => self.clock.advance(KEPT / 4),
            },
            _ => self.collect().await,
        }
    }

    async fn ask(&self, call: CounterCall) -> CounterAnswer {
        self.store.counters(&self.namespace, call).await.expect("memory answers")
    }

    fn draw_writer(&mut self) -> usize {
        usize::try_from(self.rng.below(self.writers.len() as u64)).expect("few")
    }

    async fn append(&mut self) {
        let at = self.draw_writer();
        let mut deltas = Vec::new();
        for _ in 0..=self.rng.below(3) {
            let drawn = usize::try_from(self.rng.below(COUNTERS.len() as u64)).expect("few");
            let counter = COUNTERS[drawn];
            let amount = i64::try_from(self.rng.below(200)).expect("small") - 100;
            let set = self.rng.one_in(6);
            let change = if set { Change::Set(amount) } else { Change::Add(amount) };
            let known = self.model.entry(counter).or_default();
            *known = if set { amount } else { *known + amount };
            let counter = CounterName::new(counter).expect("it is a name");
            deltas.push(Delta { counter, change });
        }
        let writer = &mut self.writers[at];
        writer.number += 1;
        writer.last = deltas;
        writer.may_repeat = true;
        self.send(at).await;
    }

    /// The answer is taken for lost: the same again, any number of times.
    async fn repeat(&mut self) {
        let at = self.draw_writer();
        if self.writers[at].may_repeat {
            self.repeats += 1;
            self.send(at).await;
        }
    }

    async fn send(&mut self, at: usize) {
        let writer = &mut self.writers[at];
        if self.planted == Planted::TakesRepeatsForNew {
            writer.number += 1;
        }
        let (boot, number, deltas) = (writer.boot, writer.number, writer.last.clone());
        let call = CounterCall::Append { writer: boot, number, deltas };
        assert_eq!(self.ask(call).await, CounterAnswer::Appended);
    }

    fn crash_writer(&mut self) {
        let at = self.draw_writer();
        self.writers.remove(at);
        self.begin_writer();
    }

    async fn consolidate(&mut self, epoch: u64) {
        let fence = Epoch(epoch);
        let limit = u32::try_from(self.rng.below(6)).expect("small");
        if self.planted == Planted::AppliesWithoutMarking {
            return self.apply_and_leave(fence).await;
        }
        self.ask(CounterCall::Consolidate { fence, limit }).await;
    }

    /// Applies all, and leaves the newest change pending as if it had not been marked.
    async fn apply_and_leave(&mut self, fence: Epoch) {
        self.ask(CounterCall::Consolidate { fence, limit: u32::MAX }).await;
        let at = self.draw_writer();
        self.boots += 1;
        let (writer, deltas) = (BootId(self.boots), self.writers[at].last.clone());
        self.ask(CounterCall::Append { writer, number: 1, deltas }).await;
    }

    /// No writer repeats what is older than what is kept.
    async fn collect(&mut self) {
        self.clock.advance(KEPT / 8);
        let call =
            CounterCall::Collect { fence: Epoch(self.epoch), silent_for: KEPT, limit: u32::MAX };
        let collected = self.ask(call).await;
        if collected != CounterAnswer::Collected(0) {
            self.writers.iter_mut().for_each(|writer| writer.may_repeat = false);
        }
    }

    /// Everything is applied, and read.
    async fn settle(&mut self) {
        let call = CounterCall::Consolidate { fence: Epoch(self.epoch), limit: u32::MAX };
        self.ask(call).await;
        let counters = self.model.keys().map(|name| CounterName::new(name).expect("it is a name"));
        let read = CounterCall::Read { counters: counters.collect() };
        let CounterAnswer::Readings(readings) = self.ask(read).await else { return };
        for (name, reading) in self.model.keys().zip(readings) {
            assert_eq!(reading.consolidated, reading.current);
            assert!(!reading.consolidated.overflowed);
            self.found.insert(name, reading.consolidated.value);
        }
    }
}
