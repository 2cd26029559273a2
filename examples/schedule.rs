//! A function that runs on a schedule, on one instance, once for each time.
//!
//! `cargo run --example schedule [STORE-URL]`: it ends after three runs.

use baton::plugins::schedules::Overlap;
use baton::{Event, Node, PluginError, ScheduledRun, cron};

async fn report(run: ScheduledRun) -> Result<(), PluginError> {
    println!("{} attempt {} in epoch {}", run.slot(), run.attempt(), run.term().epoch());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let store = baton::open(&url).await?;
    let every_second = cron("report", "* * * * * *", report).tz("Europe/Berlin");
    let builder = Node::builder(store).schedule(every_second.overlap(Overlap::Queue));
    let (node, mut events) = builder.build_with_events()?;
    let mut ended = 0;
    while ended < 3 {
        let Some(event) = events.next().await else { break };
        ended += u32::from(matches!(event.event, Event::ScheduleEnded { .. }));
    }
    node.leave().await;
    Ok(())
}
