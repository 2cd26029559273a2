//! What is said to a peer and by it, one line each.

use baton_core::ids::Namespace;
use baton_store::Declaration;
use baton_store::{Answer, Call, StoreError};
use serde::{Deserialize, Serialize};

/// The environment variable that names the store to open.
pub const URL: &str = "BATON_TEST_PEER_URL";

/// What libtest prints does not begin with this.
pub const MARK: &str = "peer> ";

/// A call to make. Numbered, so that an answer whose caller stopped waiting is not taken for the
/// next one.
#[derive(Debug, Serialize, Deserialize)]
pub struct PeerCall {
    pub number: u64,
    pub namespace: Namespace,
    pub call: Call,
}

/// What a peer says.
#[derive(Debug, Serialize, Deserialize)]
pub enum PeerMessage {
    /// The store is open, and declares this.
    Ready(Declaration),
    /// The store is not open, because of this.
    Refused(String),
    /// The answer to the call of that number.
    Answer(u64, Box<Result<Answer, StoreError>>),
}
