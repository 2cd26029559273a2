//! Like `fenced_write`, but the data is the service's own, an object in S3: the highest epoch that
//! wrote it wins.
//!
//! `cargo run -p baton --features s3 --example fenced_s3 -- "s3://bucket/prefix"`

use baton::Node;
use baton::drivers::s3;
use baton::drivers::s3::fence::{Fence, FenceError};

/// The mark tells this write from every other; put it anywhere into the object.
fn invoices(paid: u32) -> impl Fn(&str) -> Vec<u8> {
    move |mark| format!("{{\"paid\":{paid},\"write\":\"{mark}\"}}").into_bytes()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("name the store: s3://bucket/prefix")?;
    let node = Node::builder(baton::open(&url).await?).build()?;
    // The same server and keys, for objects of your own. It repeats no write.
    let objects = s3::client(&url)?;
    let fence = Fence::new("invoices.json");

    let term = node.leadership().await?;
    let old = term.epoch();
    fence.put(&*objects, old, invoices(41)).await?;
    println!("epoch {old}: written");

    // Another term begins, here or elsewhere, and writes.
    node.resign();
    term.lost().await;
    drop(term);
    let next = node.leadership().await?;
    fence.put(&*objects, next.epoch(), invoices(42)).await?;
    println!("epoch {}: written", next.epoch());

    // The old one comes back and finds that it is too late.
    match fence.put(&*objects, old, invoices(43)).await {
        Err(FenceError::StaleEpoch(stale)) => println!("{stale}"),
        other => return Err(format!("the old epoch was not refused: {other:?}").into()),
    }
    drop(next);
    node.leave().await;
    Ok(())
}
