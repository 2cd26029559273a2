//! Like `leader`, but the work is a plugin: started, repeated, restarted and stopped by baton.

use std::time::Duration;

use baton::{DemotionReason, Leadership, Node, Plugin, PluginError, async_trait};
use tokio::sync::mpsc;

struct Sweep(mpsc::UnboundedSender<String>);

#[async_trait]
impl Plugin for Sweep {
    fn name(&self) -> &str {
        "sweep"
    }

    fn work_interval(&self) -> Duration {
        Duration::from_millis(50)
    }

    async fn coordinator_work(&self, term: &Leadership) -> Result<(), PluginError> {
        self.0.send(format!("epoch {}: swept", term.epoch()))?;
        Ok(())
    }

    async fn on_stop_being_coordinator(&self, _: DemotionReason) {
        // It fails when `main` has ended.
        let _ = self.0.send("stopped".to_owned());
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let (lines, mut printed) = mpsc::unbounded_channel();
    let node = Node::builder(baton::open(&url).await?).plugin(Sweep(lines)).build()?;
    for _ in 0..3 {
        println!("{}", printed.recv().await.ok_or("the plugin is gone")?);
    }
    node.leave().await;
    drop(node);
    while let Some(line) = printed.recv().await {
        println!("{line}");
    }
    Ok(())
}
