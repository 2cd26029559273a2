//! Like `fenced_write`, but the data is the service's own, in a SQLite database: the epoch is
//! checked in the very transaction of the write, which is as short as it can be: a process that is
//! paused in it keeps every other writer of the file waiting.

use baton::drivers::sqlite::fence::{Fence, FenceError};
use baton::drivers::sqlite::rusqlite::Connection;
use baton::{Epoch, Node};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let node = Node::builder(baton::open(&url).await?).build()?;

    // The application's own database, which baton has nothing to do with.
    let mut invoices = Connection::open_in_memory()?;
    invoices.execute("CREATE TABLE invoices (number INTEGER)", ())?;

    let term = node.leadership().await?;
    let old = term.epoch();
    write_invoice(&mut invoices, old, 41)?;
    println!("epoch {old}: written");

    // Another term begins, here or elsewhere, and writes.
    node.resign();
    term.lost().await;
    drop(term);
    let next = node.leadership().await?;
    write_invoice(&mut invoices, next.epoch(), 42)?;
    println!("epoch {}: written", next.epoch());

    // The old one comes back and finds that it is too late.
    match write_invoice(&mut invoices, old, 43) {
        Err(FenceError::StaleEpoch(stale)) => println!("{stale}"),
        other => return Err(format!("the old epoch was not refused: {other:?}").into()),
    }
    drop(next);
    node.leave().await;
    Ok(())
}

fn write_invoice(invoices: &mut Connection, epoch: Epoch, number: i64) -> Result<(), FenceError> {
    let insert = "INSERT INTO invoices (number) VALUES (?1)";
    Fence::new("invoices").write(invoices, epoch, |work| work.execute(insert, [number]).map(drop))
}
