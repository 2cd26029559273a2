//! `baton own`: a process of `baton demo --partitions`. Its node owns partitions of the lists that
//! it is given; what it works on, and when, it notes in a log of its own.

use std::sync::Arc;

use baton::Node;

use crate::cluster::ClusterError;
use crate::cluster::owners::{self, OwnerLog, OwnerOptions, OwnerSignals, Works};
use crate::error::{CommandError, Exit};

#[derive(Debug, clap::Parser)]
#[command(
    name = "baton own",
    about = "Own partitions, and note when in a log: a process of the demo"
)]
pub struct Arguments {
    #[command(flatten)]
    options: OwnerOptions,
}

pub fn run(arguments: &Arguments) -> Result<Exit, CommandError> {
    super::block_on(async {
        own(&arguments.options).await?;
        Ok(Exit::DONE)
    })
}

async fn own(options: &OwnerOptions) -> Result<(), ClusterError> {
    let signals = OwnerSignals::listen()?;
    end_with_parent()?;
    let works = Works::new(Arc::new(OwnerLog::create(&options.log)?));
    let node = Node::builder(baton_drivers::open(&options.store).await?)
        .namespace(options.namespace.clone())
        .id(options.id.clone())
        .profile(options.profile);
    let partition_store = baton_drivers::open(&options.store).await?;
    let node = works.of_node(node, &options.lists).partition_store(partition_store);
    owners::own(node, &works, signals).await
}

/// A demo that is killed takes its processes with it.
#[cfg(target_os = "linux")]
fn end_with_parent() -> Result<(), ClusterError> {
    use rustix::process::{Signal, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|errno| {
        let what = "cannot end with the demo".to_owned();
        ClusterError::Process { what, problem: errno.into() }
    })
}

/// Only Linux can do that.
#[cfg(not(target_os = "linux"))]
fn end_with_parent() -> Result<(), ClusterError> {
    Ok(())
}
