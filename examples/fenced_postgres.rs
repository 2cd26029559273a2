//! Like `fenced_write`, but the data is the service's own, in a table: the epoch is checked in the
//! very transaction of the write. Run it with a PostgreSQL URL.
//!
//! A leader that is paused in the middle of that transaction keeps the next one waiting for one
//! lease at most: then the server ends the transaction.

use baton::Node;
use baton::drivers::postgres::fence::{Fence, FenceError};
use baton::drivers::postgres::tokio_postgres::{self, Client, NoTls};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("name a store: postgres://user@host/database")?;
    let node = Node::builder(baton::open(&url).await?).build()?;

    // The application's own connection to the same database.
    let (mut client, connection) =
        tokio_postgres::connect(&baton::client_url(&url)?, NoTls).await?;
    let mut reading = tokio::task::JoinSet::new();
    reading.spawn(connection);
    client.batch_execute("CREATE TABLE IF NOT EXISTS invoices (number bigint)").await?;
    let fence = Fence::new("invoices").within(node.settings().lease_timeout);

    let term = node.leadership().await?;
    let old = term.epoch();
    write_invoice(&mut client, &fence, old, 41).await?;
    println!("epoch {old}: written");

    // Another term begins, here or elsewhere, and writes.
    node.resign();
    term.lost().await;
    drop(term);
    let next = node.leadership().await?;
    write_invoice(&mut client, &fence, next.epoch(), 42).await?;
    println!("epoch {}: written", next.epoch());

    // The old one comes back and finds that it is too late.
    match write_invoice(&mut client, &fence, old, 43).await {
        Err(FenceError::StaleEpoch(stale)) => println!("{stale}"),
        other => return Err(format!("the old epoch was not refused: {other:?}").into()),
    }
    drop(next);
    node.leave().await;
    Ok(())
}

async fn write_invoice(
    client: &mut Client,
    fence: &Fence,
    epoch: baton::Epoch,
    number: i64,
) -> Result<(), FenceError> {
    let transaction = client.transaction().await?;
    fence.admit(&transaction, epoch).await?;
    transaction.execute("INSERT INTO invoices VALUES ($1)", &[&number]).await?;
    Ok(transaction.commit().await?)
}
