//! The peer's side: opens the store that the environment names, and makes the calls it is told.

use std::io::Write;

use super::messages::{MARK, PeerCall, PeerMessage, URL};

/// Serves until its orders end, if this process was started as a peer; says whether it was.
pub fn serve_if_asked() -> bool {
    let Ok(url) = std::env::var(URL) else { return false };
    // On a thread of its own: the caller may be on a runtime's, which must not be blocked on.
    let served = std::thread::scope(|scope| scope.spawn(|| serve(&url)).join());
    assert!(served.is_ok(), "the peer panicked");
    true
}

fn serve(url: &str) {
    // What a driver does between two calls goes on while this thread waits for orders.
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a process can have a second thread");
    let store = match runtime.block_on(baton_drivers::open(url)) {
        Ok(store) => store,
        Err(refusal) => return say(&PeerMessage::Refused(refusal.to_string())),
    };
    say(&PeerMessage::Ready(store.declaration()));
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let order: PeerCall = serde_json::from_str(&line).expect("orders are plain data");
        let answer = runtime.block_on(store.call(&order.namespace, order.call));
        say(&PeerMessage::Answer(order.number, Box::new(answer)));
    }
}

fn say(said: &PeerMessage) {
    let line = serde_json::to_string(said).expect("it is plain data");
    let mut out = std::io::stdout().lock();
    // If the reader of this stream is gone, the orders end as well.
    let _ = writeln!(out, "\n{MARK}{line}").and_then(|()| out.flush());
}
