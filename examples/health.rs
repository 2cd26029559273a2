//! Like `plugin`, but the plugin comes with baton: it judges how the cluster does.

use std::sync::Arc;
use std::time::Duration;

use baton::plugins::health::ClusterHealth;
use baton::{Event, Node, NodeBuilder, Profile, Store};

/// Beats often, so that there is something to see at once.
fn member(store: &Arc<dyn Store>) -> NodeBuilder {
    Node::builder(store.clone())
        .profile(Profile::Fast)
        .plugin(ClusterHealth::default().every(Duration::from_millis(200)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let store = baton::open(&url).await?;
    let (first, mut events) = member(&store).build_with_events()?;
    let mut second = None;
    while let Some(stamped) = events.next().await {
        let Event::HealthChanged { verdict, reasons } = &stamped.event else { continue };
        println!("{}", verdict.word());
        reasons.iter().for_each(|reason| println!("  {reason}"));
        if second.is_some() {
            break;
        }
        second = Some(member(&store).build()?);
    }
    first.leave().await;
    Ok(())
}
