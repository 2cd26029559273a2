//! Hints by NOTIFY come from those who may read the store, and from no one else.

use baton_core::protocol::{Claim, Hint};
use baton_testbed::contender::{Contender, namespace};

use crate::fixture::{Postgres, Session};

/// As many as once caused 8,000 transactions and kept a lease from being taken over.
const FORGED: &str = r#"
    SELECT count(pg_notify(channel, '{"hint":"released","version":{"epoch":' || n
        || ',"nonce":{"boot":"00000000000000000000000000000001","attempt":1}},"successor":"a"}'))
    FROM generate_series(1, 200) AS n, unnest(ARRAY[
        'baton_' || md5('public.baton_web'), 'baton_' || md5('web'), 'baton_web', 'web'
    ]) AS channel"#;

/// A role that may connect, and has no right on baton's tables, cannot make a node do anything:
/// what it sends reaches no subscription, and it cannot ask for the name of the channel.
#[tokio::test]
async fn a_role_without_rights_reaches_no_listener() {
    let fixture = Postgres::start().await;
    let store = fixture.open().await;
    let web = namespace("web");
    let node = Contender::new(&store, &web, 1);
    let mut hints = store.hints(&web).await.expect("it pushes");
    let held = node.take(Claim::Vacant).await;

    fixture.sql("CREATE ROLE stranger LOGIN").await;
    let url = fixture.server.url().replace("postgres@", "stranger@");
    let stranger = Session::open(&url).await;
    for asked in [
        "SELECT baton_channel('web')",
        "SELECT baton_listen('web')",
        "SELECT hint_secret FROM baton_meta",
    ] {
        let refused = stranger.run(asked).await.expect_err(asked);
        let said = refused.as_db_error().map(|error| error.message().to_owned());
        assert_eq!(said.as_deref(), Some("permission denied for table baton_meta"), "{asked}");
    }
    assert_eq!(stranger.run(FORGED).await.expect("any role may notify"), ["800"]);

    // One subscription gets everything in the order in which it was sent.
    node.release(held).await;
    let first = hints.recv().await;
    let epoch = match &first {
        Some(Hint::Released { version, .. }) => Some(version.epoch),
        _ => None,
    };
    assert_eq!(epoch, Some(held.epoch), "the release comes first, and not {first:?}");
    assert!(hints.try_recv().is_err(), "and nothing else");
}

/// Two stores in one database, or two servers, have secrets of their own.
#[tokio::test]
async fn each_store_has_a_secret_of_its_own() {
    let fixture = Postgres::start().await;
    drop(fixture.open().await);
    let other = format!("{}?table_prefix=other_", fixture.server.url());
    drop(baton_drivers::open(&other).await.expect("it is made"));
    let secrets = "SELECT hint_secret FROM baton_meta UNION SELECT hint_secret FROM other_meta";
    let secrets = fixture.sql(secrets).await;
    assert_eq!(secrets.len(), 2, "{secrets:?}");
    assert!(secrets.iter().all(|secret| secret.len() >= 32), "{secrets:?}");
}
