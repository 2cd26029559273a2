//! The command lines of the benches of partitions, and of the process that they start.

use std::time::Duration;

use baton::Profile;
use baton_cli::cluster::owners::OwnerOptions;
use clap::Args;

use crate::fixture::StoreChoice;

/// A part of the benches of partitions: a node that owns some.
#[derive(Clone, Debug, Args)]
pub struct Owner {
    #[command(flatten)]
    pub options: OwnerOptions,
    /// How often it writes for one of its partitions; never unless given
    #[arg(long, value_parser = baton_cli::commands::duration)]
    pub writes_every: Option<Duration>,
}

/// Options of `rebalance`.
#[derive(Clone, Debug, Args)]
pub struct Rebalance {
    /// The stores, one after the other
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub store: Vec<StoreChoice>,
    /// How many nodes
    #[arg(long, default_value = "40", value_parser = clap::value_parser!(u32).range(4..))]
    pub nodes: u32,
    /// How many task lists
    #[arg(long, default_value = "30", value_parser = clap::value_parser!(u32).range(1..))]
    pub lists: u32,
    /// How many partitions each list has
    #[arg(long, default_value = "80", value_parser = clap::value_parser!(u32).range(1..))]
    pub partitions: u32,
    /// How long requests are counted without partitions, and with them at rest
    #[arg(long, default_value = "20", value_parser = clap::value_parser!(u32).range(5..))]
    pub seconds: u32,
    /// The settings of the nodes; bars are those of `fast`
    #[arg(long, default_value = "fast")]
    pub profile: Profile,
}

/// Options of `soak`.
#[derive(Clone, Debug, Args)]
pub struct Soak {
    /// The stores, one after the other
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub store: Vec<StoreChoice>,
    /// How many clusters share the store
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u32).range(1..=9))]
    pub clusters: u32,
    /// How many nodes each cluster has
    #[arg(long, default_value = "40", value_parser = clap::value_parser!(u32).range(3..))]
    pub nodes: u32,
    /// How many task lists each cluster has, of 50 to 100 partitions
    #[arg(long, default_value = "30", value_parser = clap::value_parser!(u32).range(1..))]
    pub lists: u32,
    /// How long nodes join and leave
    #[arg(long, default_value = "60", value_parser = clap::value_parser!(u32).range(5..))]
    pub seconds: u32,
    /// What joins and leaves are drawn from [default: a new one]
    #[arg(long)]
    pub seed: Option<u64>,
}
