//! Like `polls`, but the leader is another process: this one only answers, until it is told
//! to stop. The device that it asks does not answer the first time.

use std::time::Duration;

use baton::plugins::polls::{PollHandlers, PollRun};
use baton::{Node, Profile};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let id = std::env::args().nth(2).unwrap_or_else(|| "worker".to_owned());
    let name = id.clone();
    let ask_device = move |run: PollRun| {
        let id = id.clone();
        async move {
            match run.attempt {
                1 => std::future::pending().await,
                _ => Ok(format!("{id} heard 21 degrees")),
            }
        }
    };
    let handlers = PollHandlers::default().look_every(Duration::from_millis(50));
    let node = Node::builder(baton::open(&url).await?)
        .id(name.as_str())
        .profile(Profile::Fast)
        .tune(|settings| settings.eligible = false)
        .service(handlers.on("device", ask_device))
        .build()?;
    node.until_signalled().await?;
    Ok(())
}
