//! Like `leader`, but what it writes is fenced: a leader that was paused and comes back too
//! late is refused.

use baton::{FenceRegisterError, Node, Precondition, WriteOutcome};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let node = Node::builder(baton::open(&url).await?).build()?;

    // What baton keeps is fenced in the same step as the write.
    let term = node.leadership().await?;
    let old = term.epoch();
    let written = term.write_document("cursor", b"41".to_vec(), Precondition::Any).await?;
    println!("epoch {old}: {}", if written == WriteOutcome::Fenced { "fenced" } else { "written" });

    // For anything else there is a register: ask it right before acting, and hand the epoch on.
    let invoices = node.fence_register("invoices");
    invoices.admit(old).await?;

    // Another term begins, here or elsewhere, and acts.
    node.resign();
    term.lost().await;
    drop(term);
    let next = node.leadership().await?;
    invoices.admit(next.epoch()).await?;
    println!("epoch {}: admitted", next.epoch());

    // The old one comes back and finds that it is too late.
    match invoices.admit(old).await {
        Err(refused @ FenceRegisterError::StaleEpoch(_)) => println!("{refused}"),
        other => return Err(format!("the old epoch was not refused: {other:?}").into()),
    }
    drop(next);
    node.leave().await;
    Ok(())
}
