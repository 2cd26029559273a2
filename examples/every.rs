//! A plugin in ten lines: a closure that the leader calls every so often, and no other node.

use std::time::Duration;

use baton::{Node, every};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let report = every("report", Duration::from_millis(20), |term| async move {
        let state = term.state("report");
        let count = state.read::<u32>().await?.unwrap_or_default() + 1;
        state.write(&count).await?;
        println!("epoch {}: report {count}", term.epoch());
        Ok(())
    });
    let node = Node::builder(baton::open(&url).await?).plugin(report).build()?;
    let mut events = node.events();
    while node.plugins()[0].runs < 3 {
        tokio::select! {
            _ = events.next() => {}
            () = tokio::task::yield_now() => {}
        }
    }
    node.leave().await;
    Ok(())
}
