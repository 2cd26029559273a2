//! A pooler between baton and the server: no other application's session is touched.

use baton_core::ids::Epoch;
use baton_core::protocol::{Claim, Hint};
use baton_drivers::sweep::{self, Strategy, Table};
use baton_store::sweep::SweepError;
use baton_testbed::contender::{Contender, namespace};
use baton_testbed::wait::soon;
use baton_testbed::{Kind, Options, Server};

use crate::fixture::{Postgres, Session};

/// A pooler before the server, with these settings.
async fn pooler(fixture: &Postgres, settings: &[&str]) -> Server {
    let address = fixture.server.address();
    let behind = format!("* = host={} port={} user=postgres", address.ip(), address.port());
    let settings = settings.iter().copied().chain(["[databases]", &behind]).map(str::to_owned);
    let options = Options { arguments: settings.collect(), ..Options::default() };
    Server::start_with(Kind::Pgbouncer, options).await.expect("pgbouncer can be started here")
}

async fn refusal(url: &str) -> String {
    let refused = baton_drivers::open(url).await.expect_err("it must be refused").to_string();
    assert!(!refused.contains('\n'), "{refused}");
    refused
}

/// What baton limits its own statements to must not end those of an application that shares its
/// connection to the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_of_transactions_is_refused_and_no_other_client_notices() {
    let fixture = Postgres::start().await;
    let cases = [
        ("", "none", "is a connection pooler (unsupported startup parameter: options "),
        ("ignore_startup_parameters = options", "none", "lacks the settings that it was started"),
        ("", "session", "is a connection pooler (it gives two clients server process "),
    ];
    for (setting, mode, wanted) in cases {
        let settings = ["pool_mode = transaction", "default_pool_size = 1", setting];
        let pooler = pooler(&fixture, &settings).await;
        let application = Session::open(&pooler.url()).await;
        let shared = application.run("SELECT pg_backend_pid()").await.expect("it is sound");
        let url = format!("{}?timeout_ms=500&pooler={mode}", pooler.url());
        let message = refusal(&url).await;
        assert!(message.contains(wanted), "{message}");
        assert!(message.contains("; connect to the server itself, or say pooler="), "{message}");
        let table = Table::new("things").expires("until");
        let sweep = sweep::open(&url, table, Strategy::Delete).expect("the names are plain");
        let refused = sweep.batch(Epoch(1), 1).await.expect_err("nor may a sweep");
        assert!(matches!(refused, SweepError::Rejected { .. }), "{refused:?}");

        assert_eq!(
            application.run("SELECT pg_backend_pid()").await.expect("it is sound"),
            shared,
            "there is but one server process"
        );
        for limit in ["statement_timeout", "lock_timeout"] {
            let found = application.run(&format!("SHOW {limit}")).await.expect("it is sound");
            assert_eq!(found, ["0"], "{limit} was left behind");
        }
        let slow = application.run("SELECT pg_sleep(0.7)").await;
        assert!(slow.is_ok(), "cancelled: {slow:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_of_sessions_will_do_if_it_is_named() {
    let fixture = Postgres::start().await;
    drop(fixture.open().await);
    let pooler = pooler(&fixture, &["pool_mode = session"]).await;
    let refused = refusal(&pooler.url()).await;
    assert!(refused.contains("say pooler=session if it gives every client"), "{refused}");
    let url = format!("{}?pooler=session", pooler.url());
    let store = baton_drivers::open(&url).await.expect("it gives whole sessions");
    let findings = store.examine().await.expect("it answers");
    let session = findings.iter().find(|finding| finding.check == "session");
    let detail = session.map(|finding| finding.detail.as_str());
    assert_eq!(detail, Some("a pooler's, which was not seen to share it with another client"));
    let node = Contender::new(&store, &namespace("pooled"), 1);
    let mut hints = node.store.hints(&node.namespace).await.expect("it pushes");
    let other = Contender::new(&fixture.open().await, &node.namespace, 2);
    let held = other.take(Claim::Vacant).await;
    other.release(held).await;
    let heard = async {
        while let Some(hint) = hints.recv().await {
            if matches!(hint, Hint::Released { .. }) {
                return Some(());
            }
        }
        None
    };
    assert_eq!(soon(heard).await, Some(()), "a release is heard of");
}
