//! Like `fenced_write`, but the data is the service's own, in etcd: the epoch is checked in the
//! same transaction as the write.
//!
//! `cargo run -p baton --features etcd --example fenced_etcd -- etcd://HOST:2379`

use baton::drivers::etcd::fence::{Fence, FenceError};
use baton::{Namespace, Node};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "etcd://127.0.0.1:2379".to_owned());
    let namespace = Namespace::new("invoices")?;
    let builder = Node::builder(baton::open(&url).await?).namespace(namespace.clone());
    let node = builder.build()?;
    let fence = Fence::open(&url, &namespace, "invoices").await?;

    let term = node.leadership().await?;
    let old = term.epoch();
    fence.put(old, "shop/next-invoice", b"41").await?;
    println!("epoch {old}: written");

    // Another term begins, here or elsewhere, and writes.
    node.resign();
    term.lost().await;
    drop(term);
    let next = node.leadership().await?;
    fence.put(next.epoch(), "shop/next-invoice", b"42").await?;
    println!("epoch {}: written", next.epoch());

    // The old one comes back and finds that it is too late.
    match fence.put(old, "shop/next-invoice", b"41").await {
        Err(FenceError::StaleEpoch(stale)) => println!("{stale}"),
        other => return Err(format!("the old epoch was not refused: {other:?}").into()),
    }
    drop(next);
    node.leave().await;
    Ok(())
}
