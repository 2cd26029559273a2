//! A process with the library in it: ticks while it leads, resigns at SIGUSR1, leaves at SIGTERM.

use std::pin::pin;

use baton::{Namespace, Node, NodeId};
use baton_cli::cluster::tick_along;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::Member;
use crate::error::BenchError;

/// Takes part until SIGTERM.
pub async fn take_part(options: &Member) -> Result<(), BenchError> {
    let no_signals = |problem| BenchError::File { path: "signals".into(), problem };
    let mut end = signal(SignalKind::terminate()).map_err(no_signals)?;
    let mut resign = signal(SignalKind::user_defined1()).map_err(no_signals)?;
    let id = NodeId::new(&options.id).expect("the bench gives a plain name");
    let namespace = Namespace::new(&options.namespace).expect("the bench gives a plain name");
    let store = baton_drivers::open(&options.store).await?;
    let node = Node::builder(store).namespace(namespace).id(id).build()?;
    tokio::select! {
        ended = lead(&node, options, &mut resign) => ended?,
        _ = end.recv() => {}
    }
    node.leave().await;
    Ok(())
}

/// Leads term after term.
async fn lead(node: &Node, options: &Member, resign: &mut Signal) -> Result<(), BenchError> {
    loop {
        let term = node.leadership().await?;
        let (epoch, id) = (term.epoch().0, node.id().as_str());
        let mut ticking = pin!(tick_along(&options.log, options.every, epoch, id));
        tokio::select! {
            ended = &mut ticking => return Ok(ended?),
            _ = term.lost() => {}
            _ = resign.recv() => {
                term.resign();
                term.lost().await;
            }
        }
    }
}
