//! Fenced writes of the user's own, in the user's own transaction.

use baton_core::ids::Epoch;
use baton_drivers::StaleEpoch;
use baton_drivers::postgres::fence::{Fence, FenceError, sql};

use crate::fixture::{Postgres, Session};

/// Adds one to the number, under this epoch.
pub async fn add_one(session: &mut Session, epoch: u64) -> Result<(), FenceError> {
    let transaction = session.client.transaction().await?;
    Fence::new("numbers").admit(&transaction, Epoch(epoch)).await?;
    transaction.execute("UPDATE numbers SET n = n + 1", &[]).await?;
    transaction.commit().await?;
    Ok(())
}

#[tokio::test]
async fn the_highest_epoch_wins_and_no_increment_is_lost() {
    let fixture = Postgres::start().await;
    // The register alone: baton's own tables may be in another database.
    fixture.sql(&sql("public", "baton_").expect("plain names")).await;
    fixture.sql("CREATE TABLE numbers (n bigint); INSERT INTO numbers VALUES (0)").await;
    let url = fixture.server.url();
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..8_u64 {
        let url = url.clone();
        workers.spawn(async move {
            let mut session = Session::open(&url).await;
            let mut admitted = 0_u64;
            for turn in 0..40_u64 {
                // Half of the workers are of a term that is over before they are done.
                let epoch = if worker % 2 == 0 { 7 + turn / 20 } else { 7 };
                match add_one(&mut session, epoch).await {
                    Ok(()) => admitted += 1,
                    Err(FenceError::StaleEpoch(StaleEpoch { given, highest, .. })) => {
                        assert_eq!((given, highest), (Epoch(7), Epoch(8)));
                    }
                    Err(other) => return Err(other),
                }
            }
            Ok(admitted)
        });
    }
    let mut admitted = 0;
    for worker in workers.join_all().await {
        admitted += worker.expect("nothing but the fence refuses");
    }
    assert_eq!(fixture.sql("SELECT n FROM numbers").await, [admitted.to_string()]);
    let mut late = Session::open(&url).await;
    let refused = add_one(&mut late, 7).await.expect_err("8 was here").to_string();
    let wanted = "epoch 7 is behind 8, which was admitted to numbers; its term is over (if epochs \
                  began anew, in another namespace or a new store: `baton fences reset numbers`)";
    assert_eq!(refused, wanted);

    // From any language: one statement, one SQLSTATE. In a strict transaction too.
    for begin in ["BEGIN", "BEGIN ISOLATION LEVEL SERIALIZABLE"] {
        let session = Session::open(&url).await;
        let asked = session.run(&format!("{begin}; SELECT baton_fence('numbers', 7)")).await;
        let code = asked.expect_err("8 was here").code().map(|code| code.code().to_owned());
        assert_eq!(code.as_deref(), Some("BT002"));
    }
}

/// The transaction of a later term waits for that of the earlier term, and not the other way
/// round: what was admitted before is written before.
#[tokio::test]
async fn a_later_epoch_waits_for_what_was_admitted() {
    let fixture = Postgres::start().await;
    fixture.sql(&sql("public", "baton_").expect("plain names")).await;
    let (early, late) =
        (Session::open(&fixture.server.url()).await, Session::open(&fixture.server.url()).await);
    early.run("BEGIN; SELECT baton_fence('x', 1)").await.expect("it is the first");
    late.run("SET lock_timeout TO 100").await.expect("it can be set");
    let waits = late.run("SELECT baton_fence('x', 2)").await.expect_err("1 is not done");
    assert_eq!(waits.code().map(|code| code.code().to_owned()).as_deref(), Some("55P03"));
    early.run("COMMIT").await.expect("it was admitted");
    late.run("SELECT baton_fence('x', 2)").await.expect("1 is done");
    early.run("SELECT baton_fence('x', 1)").await.expect_err("2 was here");
}
