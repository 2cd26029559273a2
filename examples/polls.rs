//! Like `plugin`, but any node does the work: the leader hands polls out, nodes answer them.

use std::time::Duration;

use baton::Node;
use baton::plugins::polls::{Enqueued, Poll, PollHandlers, PollRun, Polls};

const LOOK_EVERY: Duration = Duration::from_millis(20);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let node = Node::builder(baton::open(&url).await?)
        .plugin(Polls::default().look_every(LOOK_EVERY))
        .build()?;
    let price = |run: PollRun| async move {
        if run.attempt == 1 {
            return Err("the shop is closed".into());
        }
        Ok(format!("{}: 80 cents", run.payload))
    };
    PollHandlers::default().look_every(LOOK_EVERY).on("price", price).start(&node)?;

    let hour = Duration::from_secs(3_600);
    let poll = Poll::new("price").tune(|it| {
        it.payload = "pencil".to_owned();
        it.unique_for = hour;
    });
    let asked = node.polls().request(&poll).await?;
    let again = node.polls().request(&poll).await?;
    println!("{asked:?}, {again:?}");
    let Enqueued::New(id) = asked else { return Err("the poll was asked before".into()) };
    let done = node.polls().wait_for(id, LOOK_EVERY).await?;
    println!("{} at attempt {}: {}", done.state.word(), done.attempt, done.note);
    node.leave().await;
    Ok(())
}
