//! Like `leader`, but in three namespaces at once: each has a leader of its own, and all of
//! them share one thread, one lifeline, one connection, and their beats.

use baton::Node;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let billing = Node::builder(baton::open(&url).await?).namespace("billing").build()?;
    let mail = billing.beside("mail").build()?;
    let search = billing.beside("search").build()?;
    for node in [&billing, &mail, &search] {
        let term = node.leadership().await?;
        println!("{}: epoch {}", node.namespace(), term.epoch());
    }
    for node in [&billing, &mail, &search] {
        node.leave().await;
    }
    Ok(())
}
