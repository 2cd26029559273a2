//! Like `plugin`, but shorter: a closure that the leader calls every so often, and no other node.

use std::time::Duration;

use baton::{Node, every};
use tokio::sync::watch;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let (reported, mut reports) = watch::channel(0);
    let report = every("report", Duration::from_millis(20), move |term| {
        let reported = reported.clone();
        async move {
            let state = term.state("report");
            let count = state.read::<u32>().await?.unwrap_or_default() + 1;
            state.write(&count).await?;
            println!("epoch {}: report {count}", term.epoch());
            reported.send_replace(count);
            Ok(())
        }
    });
    let node = Node::builder(baton::open(&url).await?).plugin(report).build()?;
    reports.wait_for(|count| *count >= 3).await?;
    node.leave().await;
    Ok(())
}
