//! A first program with the library: take part, work while this node leads, leave in order.
//!
//! `cargo run -p baton --example getting_started --features http -- [STORE-URL]`

use baton::Node;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let node = Node::builder(baton::open(&url).await?)
        .id("web-1") // one for each instance
        .metrics("127.0.0.1:0") // port 0: any free one
        .build()?;

    let term = node.leadership().await?; // waits until this node leads
    let epoch = u64::from(term.epoch()); // to hand on with everything that is written
    for piece in 1..=3 {
        if !term.may_start_work() {
            break; // the lease ends soon: begin nothing new
        }
        println!("{} works in epoch {epoch}: piece {piece}", node.id());
    }
    drop(term); // the work is done: the lease may go
    node.leave().await; // releases it, and names the next leader
    Ok(())
}
