//! A clock that is moved by hand and that every process of a test reads alike: two numbers in a
//! file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use baton_core::time::Moment;
use baton_store::clock::Clock;

/// The monotonic reading in microseconds, and the wall clock's lead over it in milliseconds.
pub struct FileClock(File);

impl FileClock {
    /// A new clock in this file.
    pub fn create(path: &Path) -> Self {
        let file = File::options().create_new(true).read(true).write(true).open(path);
        let clock = Self(file.expect("the test's folder can be written"));
        clock.set(1_000_000, 1_700_000_000_000);
        clock
    }

    /// The clock that another process moves.
    pub fn open(path: &Path) -> Self {
        Self(File::open(path).expect("the clock was created"))
    }

    pub fn advance(&self, span: Duration) {
        let (micros, lead_ms) = self.read();
        let span = u64::try_from(span.as_micros()).expect("tests wait for minutes at most");
        self.set(micros + span, lead_ms);
    }

    pub fn step_wall(&self, minutes: i64) {
        let (micros, lead_ms) = self.read();
        self.set(micros, lead_ms.saturating_add_signed(minutes * 60_000));
    }

    fn set(&self, micros: u64, lead_ms: u64) {
        let bytes = [micros.to_le_bytes(), lead_ms.to_le_bytes()].concat();
        self.0.write_all_at(&bytes, 0).expect("the clock can be written");
    }

    fn read(&self) -> (u64, u64) {
        let mut bytes = [[0; 8]; 2];
        self.0.read_exact_at(bytes.as_flattened_mut(), 0).expect("the clock can be read");
        (u64::from_le_bytes(bytes[0]), u64::from_le_bytes(bytes[1]))
    }
}

#[async_trait]
impl Clock for FileClock {
    fn now(&self) -> Moment {
        Moment::from_micros(self.read().0)
    }

    fn wall_ms(&self) -> u64 {
        let (micros, lead_ms) = self.read();
        lead_ms + micros / 1_000
    }

    async fn sleep(&self, _span: Duration) {
        unreachable!("a store reads the clock and never waits on it")
    }
}
