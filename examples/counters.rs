//! Like `plugin`, but the plugin comes with baton: many tasks count, and the leader makes one
//! value of it.

use std::time::Duration;

use baton::Node;
use baton::plugins::counters::CountersPlugin;
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let store = baton::open(&url).await?;
    let node = Node::builder(store).plugin(CountersPlugin::default()).build()?;
    node.leadership().await?;

    let counters = node.counters();
    counters.set("stock", 1_000).await?;
    let mut customers = JoinSet::new();
    for _ in 0..100 {
        let counters = counters.clone();
        customers.spawn(async move {
            counters.add("orders", 1).await?;
            counters.sub("stock", 3).await
        });
    }
    while let Some(ordered) = customers.join_next().await {
        ordered??;
    }
    println!("orders: {}", counters.get("orders").await?);
    println!("stock: {}", counters.get("stock").await?);

    let done = counters.consolidate_now(Duration::from_secs(30)).await?;
    let orders = counters.get_consolidated("orders").await?;
    println!("consolidated: {done}, orders: {orders}");
    node.leave().await;
    Ok(())
}
