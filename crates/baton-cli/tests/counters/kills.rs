//! 8 processes add 10,000 times each (on S3 fewer) while the leader is killed three times: the
//! sum is exact, with whatever is pending at any moment, and consolidated in the end.

use std::sync::Arc;
use std::time::Duration;

use baton::Store;
use baton::plugins::counters::Counters;
use baton_store::clock::{Clock, SystemClock};
use baton_testbed::Kind;
use baton_testbed::proxy::{ConnectionFault, Proxy};
use baton_testbed::wait::until;

use crate::adder::{Adder, Order, TOTAL, namespace};
use crate::fixture::Fixture;
use crate::nodes::Nodes;

const ADDERS: u64 = 8;
const KILLS: u64 = 3;

/// From one lost answer to the next: each costs a connection, and all that gathered behind it.
const LOSS_EVERY: Duration = Duration::from_millis(250);

/// One test at a time: each wants the whole machine.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// How the additions travel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Clear,
    /// Again and again an answer is lost after the server did what was asked.
    AnswersLost,
}

struct Count {
    store: Arc<dyn Store>,
    counters: Counters,
}

impl Count {
    async fn current(&self) -> i64 {
        until("an answer", async || self.counters.get(TOTAL).await.ok()).await
    }

    /// Has the leader consolidate until the value is beyond this.
    async fn consolidated_beyond(&self, least: i64) {
        until("a consolidation", async || {
            // The leader may be about to be killed or only now be elected: then it is asked again.
            let _ = self.counters.consolidate_now(Duration::from_secs(2)).await;
            let value = self.counters.get_consolidated(TOTAL).await.ok()?;
            (value > least).then_some(())
        })
        .await;
    }
}

async fn assert_sum_is_exact(fixture: Fixture, way: Way) {
    let _turn = TURN.lock().await;
    let store = fixture.open().await;
    let count = Count { store: store.clone(), counters: Counters::new(store, namespace()) };
    let mut nodes = Nodes::start(&fixture, 4);
    let (mut leader, mut epoch) = nodes.led_beyond(&count.store, 0).await;

    let proxy = match (way, fixture.address()) {
        (Way::AnswersLost, Some(address)) => Some(Proxy::to(address).await),
        _ => None,
    };
    let gate = fixture.path("gate");
    let order = |at: u64| Order {
        url: proxy.as_ref().map_or_else(|| fixture.url(), |proxy| fixture.url_at(proxy.address())),
        own: format!("from-{at}"),
        tasks: 20,
        rounds: fixture.rounds(),
        parts: KILLS + 1,
        gate: gate.clone(),
        one_in: if way == Way::AnswersLost { 20 } else { 0 },
    };
    let wanted = order(0).additions() * i64::try_from(ADDERS).expect("small");
    let mut adders: Vec<Adder> = (0..ADDERS).map(|at| Adder::start(&order(at))).collect();

    let open = |parts: u64| std::fs::write(&gate, parts.to_string()).expect("the folder is ours");
    for kill in 1..=KILLS {
        let before = count.counters.get_consolidated(TOTAL).await.expect("it answers");
        open(kill);
        count.consolidated_beyond(before).await;
        nodes.kill(&leader);
        assert!(count.current().await < wanted, "it was killed while the others counted");
        (leader, epoch) = nodes.led_beyond(&count.store, epoch).await;
        lose_an_answer(proxy.as_ref());
    }
    open(KILLS + 1);
    while !all_ended(&mut adders) {
        lose_an_answer(proxy.as_ref());
        SystemClock.sleep(LOSS_EVERY).await;
    }

    assert_eq!(count.current().await, wanted);
    count.consolidated_beyond(wanted - 1).await;
    assert_eq!(count.counters.get_consolidated(TOTAL).await, Ok(wanted));
    let own = count.counters.list("from-").await.expect("it answers");
    let values: Vec<i64> = own.iter().map(|reading| reading.current.value).collect();
    assert_eq!(values, vec![order(0).additions(); usize::try_from(ADDERS).expect("small")]);
    assert!(epoch > KILLS, "each kill began another term");
}

/// The next answer is lost, and its connection with it.
fn lose_an_answer(proxy: Option<&Proxy>) {
    if let Some(proxy) = proxy {
        proxy.set(ConnectionFault::LoseReplies);
    }
}

fn all_ended(adders: &mut [Adder]) -> bool {
    let ended: Vec<Option<bool>> = adders.iter_mut().map(Adder::ended).collect();
    assert!(!ended.contains(&Some(false)), "an adder failed; it says above why");
    ended.iter().all(Option::is_some)
}

#[tokio::test]
async fn the_sum_is_exact_through_three_kills_on_sqlite() {
    assert_sum_is_exact(Fixture::file(), Way::Clear).await;
}

#[tokio::test]
async fn the_sum_is_exact_through_three_kills_on_postgres() {
    assert_sum_is_exact(Fixture::server(Kind::Postgres).await, Way::Clear).await;
}

#[tokio::test]
async fn the_sum_is_exact_through_three_kills_on_mariadb() {
    assert_sum_is_exact(Fixture::server(Kind::Mariadb).await, Way::Clear).await;
}

#[tokio::test]
async fn the_sum_is_exact_through_three_kills_on_redis() {
    assert_sum_is_exact(Fixture::server(Kind::Redis).await, Way::Clear).await;
}

#[tokio::test]
async fn the_sum_is_exact_through_three_kills_on_s3() {
    assert_sum_is_exact(Fixture::server(Kind::Ministack).await, Way::Clear).await;
}

#[tokio::test]
async fn the_sum_is_exact_through_lost_answers_on_sqlite() {
    assert_sum_is_exact(Fixture::file(), Way::AnswersLost).await;
}

#[tokio::test]
async fn the_sum_is_exact_through_lost_answers_on_postgres() {
    assert_sum_is_exact(Fixture::server(Kind::Postgres).await, Way::AnswersLost).await;
}

#[tokio::test]
async fn the_sum_is_exact_through_lost_answers_on_mariadb() {
    assert_sum_is_exact(Fixture::server(Kind::Mariadb).await, Way::AnswersLost).await;
}

#[tokio::test]
async fn the_sum_is_exact_through_lost_answers_on_redis() {
    assert_sum_is_exact(Fixture::server(Kind::Redis).await, Way::AnswersLost).await;
}

#[tokio::test]
async fn the_sum_is_exact_through_lost_answers_on_s3() {
    assert_sum_is_exact(Fixture::server(Kind::Ministack).await, Way::AnswersLost).await;
}
