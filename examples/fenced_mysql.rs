//! Like `fenced_write`, but the data is the service's own, in a table: the epoch is checked in the
//! very transaction of the write. Run it with the URL of a MySQL or MariaDB server.
//!
//! A leader that is paused in the middle of that transaction keeps the next one waiting for one
//! lease at most: then the server ends the transaction.

use baton::drivers::mysql::fence::{Fence, FenceError};
use baton::drivers::mysql::mysql_async::prelude::Queryable;
use baton::drivers::mysql::mysql_async::{Conn, TxOpts};
use baton::{Epoch, Node};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("name a store: mysql://user@host/database")?;
    let node = Node::builder(baton::open(&url).await?).build()?;

    // The application's own connection to the same database.
    let mut conn = Conn::from_url(baton::client_url(&url)?).await?;
    conn.query_drop("CREATE TABLE IF NOT EXISTS invoices (number BIGINT)").await?;
    let fence = Fence::new("invoices").within(node.settings().lease_timeout);
    fence.create(&mut conn).await?;

    let term = node.leadership().await?;
    let old = term.epoch();
    write_invoice(&mut conn, &fence, old, 41).await?;
    println!("epoch {old}: written");

    // Another term begins, here or elsewhere, and writes.
    node.resign();
    term.lost().await;
    drop(term);
    let next = node.leadership().await?;
    write_invoice(&mut conn, &fence, next.epoch(), 42).await?;
    println!("epoch {}: written", next.epoch());

    // The old one comes back and finds that it is too late.
    match write_invoice(&mut conn, &fence, old, 43).await {
        Err(FenceError::StaleEpoch(stale)) => println!("{stale}"),
        other => return Err(format!("the old epoch was not refused: {other:?}").into()),
    }
    drop(next);
    node.leave().await;
    Ok(())
}

async fn write_invoice(
    conn: &mut Conn,
    fence: &Fence,
    epoch: Epoch,
    number: i64,
) -> Result<(), FenceError> {
    let mut work = conn.start_transaction(TxOpts::default()).await?;
    fence.admit(&mut work, epoch).await?;
    work.exec_drop("INSERT INTO invoices VALUES (?)", (number,)).await?;
    Ok(work.commit().await?)
}
