//! Twelve partitions, spread over the instances: start it twice, then end one of the two.
//!
//! `cargo run --example partitions [STORE-URL] [NODE-ID]`: it ends on Ctrl-C, or after its first
//! twelve partitions if no id is given.

use baton::Node;
use baton::partitions::{OwnedPartition, TaskList, partition_task};

/// The work of one partition, for as long as this instance owns it.
async fn consume(owned: OwnedPartition) {
    println!("{} begins", owned.partition());
    // A real task reads its part of a queue here, and carries `owned.token()` with its writes.
    owned.released().await;
    println!("{} ends", owned.partition());
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let id = std::env::args().nth(2);
    let mut builder = Node::builder(baton::open(&url).await?)
        .task_list(TaskList::new("orders".parse()?, 12))
        .partitions(partition_task(consume));
    if let Some(id) = &id {
        builder = builder.id(baton::NodeId::new(id)?);
    }
    let node = builder.build()?;
    match id {
        Some(_) => {
            node.until_signalled().await?;
        }
        None => {
            let mut owned = node.partitions().watch();
            owned.wait_for(|owned| owned.len() == 12).await?;
            node.leave().await;
        }
    }
    Ok(())
}
