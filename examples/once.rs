//! Work that is done once: three instances start with it, one does it, and a later one need not.
//!
//! `cargo run --example once [STORE-URL]`: the second time there is nothing left to do.

use baton::{Node, OnceRun, PluginError};

async fn migrate(run: OnceRun) -> Result<(), PluginError> {
    println!("attempt {} in epoch {}", run.attempt(), run.term().epoch());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite://example.db".to_owned());
    let store = baton::open(&url).await?;
    let [a, b, c] = ["a", "b", "c"].map(|id| Node::builder(store.clone()).id(id).build());
    let (a, b, c) = (a?, b?, c?);
    let key = "migrate-42";
    let all = tokio::join!(a.once(key, migrate), b.once(key, migrate), c.once(key, migrate));
    for outcome in [all.0, all.1, all.2] {
        outcome?;
    }
    println!("{:?}", a.once(key, migrate).await?);
    Ok(())
}
