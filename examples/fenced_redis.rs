//! Like `fenced_write`, but the data is the service's own, in Redis: the epoch is checked in the
//! same script that writes.

use baton::Node;
use baton::drivers::redis::client as redis;
use baton::drivers::redis::fence::{Fence, FenceError};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "redis://127.0.0.1:6379/0".to_owned());
    let node = Node::builder(baton::open(&url).await?).build()?;
    let connection = redis::Client::open(baton::client_url(&url)?)?;
    let mut connection = connection.get_multiplexed_async_connection().await?;
    let invoices = Fence::new("invoices");
    let add = |number: &str| [redis::cmd("RPUSH").arg("{invoices}:open").arg(number).take()];

    let term = node.leadership().await?;
    let old = term.epoch();
    invoices.write(&mut connection, old, &["{invoices}:open"], &add("41")).await?;
    println!("epoch {old}: written");

    // Another term begins, here or elsewhere, and writes.
    node.resign();
    term.lost().await;
    drop(term);
    let next = node.leadership().await?;
    invoices.write(&mut connection, next.epoch(), &["{invoices}:open"], &add("42")).await?;
    println!("epoch {}: written", next.epoch());

    // The old one comes back and finds that it is too late.
    match invoices.write(&mut connection, old, &["{invoices}:open"], &add("43")).await {
        Err(FenceError::StaleEpoch(stale)) => println!("{stale}"),
        other => return Err(format!("the old epoch was not refused: {other:?}").into()),
    }
    drop(next);
    node.leave().await;
    Ok(())
}
