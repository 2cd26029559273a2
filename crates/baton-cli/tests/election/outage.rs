//! A store that is gone for a while, and a store that is busy for a while.

use std::fs;
use std::time::Duration;

use baton_cli::cluster::Cluster;

use crate::judge::{judged, who};
use crate::nodes::{gathered, job, member, start};
use crate::running::Running;
use crate::stage::{FAST, FAST_LEASE, FAST_MARGIN, Stage, now, until};

/// Few failures open the breaker, and it soon probes again.
const TOUCHY: &[&str] = &["--failure-threshold=2", "--reset-timeout=500ms"];

struct Scene {
    stage: Stage,
    cluster: Cluster,
    observer: Running,
}

impl Scene {
    async fn set() -> Self {
        let stage = Stage::new();
        let flags = [FAST, TOUCHY].concat();
        let mut cluster = stage.cluster(&flags).await;
        let serve = [&["serve", "--json", "--id=eye", "--eligible=false"], &flags[..]].concat();
        let observer = Running::start(&stage, &serve);
        start(&mut cluster, &["a", "b"]).await;
        gathered(&cluster, 3).await;
        Self { stage, cluster, observer }
    }

    fn saw(&self, event: &str) -> bool {
        self.observer.lines().iter().any(|line| line["event"] == event)
    }

    /// Waits until the outage has outlasted the lease, and says for how long the job went on.
    async fn outlast(&self) -> Duration {
        let gone = now();
        let over = async || (now() > gone + FAST_LEASE + FAST_LEASE / 4).then_some(());
        until("the lease's end", over).await;
        let open = async || self.saw("circuitBreaker:open").then_some(());
        until("the breaker to open", open).await;
        let ticks = judged(&self.cluster);
        let last = ticks.all().last().expect("a job ran");
        last.at.since(gone)
    }

    /// Waits for the next job; every process must have lived through the outage.
    async fn recovers(mut self) {
        job(&self.cluster, 1).await;
        let closed = async || self.saw("circuitBreaker:closed").then_some(());
        until("the breaker to close", closed).await;
        gathered(&self.cluster, 3).await;
        assert_eq!(who(&judged(&self.cluster)).len(), 2);
        for node in ["a", "b"] {
            assert!(member(&mut self.cluster, node).runs().expect("it is ours"), "{node}");
        }
        assert!(self.observer.runs());
    }
}

#[tokio::test]
async fn a_file_that_is_moved_away_and_back_costs_the_job_and_nothing_else() {
    let scene = Scene::set().await;
    let names = ["baton.db", "baton.db-wal", "baton.db-shm"];
    let here = names.map(|name| scene.stage.path(name));
    let away = names.map(|name| scene.stage.path(&format!("away-{name}")));
    for (here, away) in here.iter().zip(&away) {
        fs::rename(here, away).expect("it is there");
    }
    let went_on = scene.outlast().await;
    assert!(went_on < FAST_LEASE - FAST_MARGIN, "{went_on:?}");
    for (here, away) in here.iter().zip(&away).rev() {
        assert!(!here.exists(), "a node made another database");
        fs::rename(away, here).expect("it was moved there");
    }
    scene.recovers().await;
}

#[tokio::test]
async fn a_file_that_another_program_keeps_busy_costs_the_job_and_nothing_else() {
    let scene = Scene::set().await;
    let other = rusqlite::Connection::open(scene.stage.path("baton.db")).expect("it is there");
    other.busy_timeout(FAST_LEASE).expect("a valid span");
    other.execute_batch("BEGIN IMMEDIATE").expect("no process writes for long");
    let went_on = scene.outlast().await;
    assert!(went_on < FAST_LEASE - FAST_MARGIN, "{went_on:?}");
    other.execute_batch("ROLLBACK").expect("it was begun");
    scene.recovers().await;
}
