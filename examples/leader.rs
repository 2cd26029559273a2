//! The canonical example: take part, wait to lead, work while the term lasts, hand over.
//!
//! `cargo run --example leader [STORE-URL]`, as often as you like at the same time.

use baton::Node;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let node = Node::builder(baton::open(&url).await?).build()?;
    println!("{} stands by", node.id());

    let term = node.leadership().await?;
    for round in 1..=3 {
        if !term.may_start_work() {
            break;
        }
        println!("epoch {}: round {round}", term.epoch());
    }
    // The lease is released once the last `Leadership` of the term is dropped.
    drop(term);
    node.leave().await;
    println!("handed over");
    Ok(())
}
