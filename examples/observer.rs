//! Like `leader`, but it never leads: it watches who does, and prints what happens as JSON.

use baton::{Event, Node};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let store = baton::open(&url).await?;
    let leader = Node::builder(store.clone()).build()?;
    leader.leadership().await?;

    let observer = Node::builder(store).tune(|settings| settings.eligible = false).build()?;
    let mut events = observer.events();
    while let Some(stamped) = events.next().await {
        if let Event::LeaderChanged { new: Some(leader), epoch, .. } = &stamped.event {
            println!("{}", serde_json::to_string(&stamped.event)?);
            println!(
                "{leader} leads in epoch {epoch}, and this node does not: {}",
                observer.is_leader()
            );
            break;
        }
    }
    observer.leave().await;
    leader.leave().await;
    Ok(())
}
