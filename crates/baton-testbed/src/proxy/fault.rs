//! What can happen between a client and a server.

use std::time::Duration;

/// What happens to connections from now on, until something else is set.
///
/// A connection that lost bytes is reset when the loss ends: what comes after a gap is no protocol
/// any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectionFault {
    /// Everything is passed on.
    #[default]
    None,
    /// Everything is passed on this much later, each way.
    Delay(Duration),
    /// Nothing is passed on, either way; connections stay open, and new ones are accepted.
    Drop,
    /// What the client says arrives, and nothing comes back: no answer, no end.
    HalfOpen,
    /// Connections are reset, present and new ones.
    Refuse,
    /// The next request arrives; its answer does not, and its connection is reset when the answer
    /// is there: done, and not told. Hits one connection that is open now, or the next one if none
    /// is, and is over with that.
    LoseReplies,
}

impl ConnectionFault {
    /// Does it take bytes away?
    pub(super) fn loses(self) -> bool {
        matches!(self, Self::Drop | Self::HalfOpen)
    }
}
