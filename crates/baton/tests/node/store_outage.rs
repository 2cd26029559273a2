//! A real PostgreSQL that is gone for a while, used by the node and by the plugin's own work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use baton::drivers::postgres::tokio_postgres::{self, NoTls};
use baton::{Event, LifelineConfig, Node, PluginError, RestartPolicy, every};
use baton_testbed::{Kind, Server};

use crate::cluster::{id, soon, until};

/// One call of the plugin's work: a connection of its own, a question, an answer.
async fn ask(url: &str) -> Result<(), PluginError> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let mut reading = tokio::task::JoinSet::new();
    reading.spawn(connection);
    client.query_one("SELECT 1", &[]).await?;
    Ok(())
}

#[tokio::test]
async fn an_outage_of_the_store_costs_no_term_though_the_plugin_uses_it_too() {
    let server = Server::start(Kind::Postgres).await.expect("it starts");
    let url = server.url();
    let answered = Arc::<AtomicU32>::default();
    let (counting, asked) = (answered.clone(), url.clone());
    // The fourth failure that counts ends the term; the waits before it are 0.7 s together.
    let strict = RestartPolicy::default().tune(|it| it.limit = 3);
    let work = every("invoices", Duration::from_millis(20), move |_| {
        let (counting, url) = (counting.clone(), asked.clone());
        async move {
            ask(&url).await?;
            counting.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    });
    // Default settings: a beat every 5 s, so that the plugin notices the outage long before it.
    let builder = Node::builder(baton::open(&url).await.expect("it opens")).id(id("a"));
    let builder = builder.lifeline(LifelineConfig::off()).plugin(work.restart(strict));
    let node = builder.build().expect("it starts");
    let mut events = node.events();
    let epoch = soon("the term", node.leadership()).await.expect("it leads").epoch();
    until("the work to begin", || answered.load(Ordering::SeqCst) > 0).await;

    server.kill().await.expect("it is ours");
    until("more failures than are endured", || node.plugins()[0].failures > 4).await;
    let before = answered.load(Ordering::SeqCst);
    server.start_again().await.expect("it recovers");
    until("the work to go on", || answered.load(Ordering::SeqCst) > before + 1).await;

    let held = soon("the term", node.leadership()).await.expect("it leads");
    assert_eq!(held.epoch(), epoch, "the term went on");
    while let Some(told) = events.try_next() {
        assert!(!matches!(told.event, Event::CoordinatorDemoted { .. }), "{told:?}");
    }
}
