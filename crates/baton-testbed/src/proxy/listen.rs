//! Accepts connections, and lets each go its way.

use std::sync::Arc;

use baton_store::clock::{Clock, SystemClock};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::connection;
use super::counts::add;
use super::fault::ConnectionFault;
use super::handle::Shared;

/// Never returns; its connections are reset when it is dropped.
pub async fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections = JoinSet::new();
    let mut number = 0;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((client, _)) = accepted else {
                    // No descriptor is left: others must close theirs first.
                    SystemClock.sleep(std::time::Duration::from_millis(10)).await;
                    continue;
                };
                add(&shared.counting.connections, 1);
                // Whatever ends it, it ends with a reset, unless both sides said their end.
                let _ = client.set_zero_linger();
                if *shared.fault.borrow() != ConnectionFault::Refuse {
                    number += 1;
                    connections.spawn(connection::run(client, number, Arc::clone(shared)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
