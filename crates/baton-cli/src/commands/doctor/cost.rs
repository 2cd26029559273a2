//! What a store that is paid by the request costs, by the settings at hand.

use baton_drivers::s3::{Requests, requests_per_hour};

use super::Finding;
use crate::config::Config;

/// Clusters of these sizes are reckoned.
const NODES: [u64; 3] = [3, 10, 50];

/// Hours in a month of thirty days.
const HOURS: u64 = 720;

/// The estimate, if the store is one that is paid so.
pub fn estimate(config: &Config) -> Vec<Finding> {
    if !config.store.to_string().starts_with("s3://") {
        return Vec::new();
    }
    let line = |nodes| {
        let hourly = requests_per_hour(nodes, config.settings.heartbeat_interval);
        Finding::ok("cost", sentence(nodes, hourly))
    };
    NODES.map(line).into()
}

fn sentence(nodes: u64, Requests { put, get, list }: Requests) -> String {
    let hourly = put + get + list;
    let monthly = (hourly * HOURS) as f64 / 1e6;
    format!("{nodes} nodes: {hourly} requests an hour, {monthly:.1} million a month")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_estimate_names_the_hour_and_the_month_within_eighty_columns() {
        let line = sentence(50, requests_per_hour(50, Duration::from_secs(5)));
        assert_eq!(line, "50 nodes: 59328 requests an hour, 42.7 million a month");
        assert!(
            sentence(3, requests_per_hour(3, Duration::from_secs(5))).starts_with("3 nodes: 5184")
        );
    }
}
