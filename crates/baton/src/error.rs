//! What can go wrong when a node is built or asked for something.

use std::net::SocketAddr;

use baton_core::ids::InvalidName;
use baton_core::settings::InvalidSettings;

use crate::plugin::InvalidPluginName;

/// Why a node was not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Change one of the two settings that the message names.
    #[error("{0}")]
    Settings(#[from] InvalidSettings),
    /// Give the node or the namespace another name.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// Give the plugin another name.
    #[error(transparent)]
    Plugin(#[from] InvalidPluginName),
    /// Choose another address for the lifeline, or switch it off.
    #[error("the lifeline cannot listen on {address} ({source}); choose another address or port")]
    Lifeline {
        /// Where it was to listen.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// A lifeline must be told under an address that others can dial.
    #[error(
        "the lifeline listens on {0}, which is every address of this machine; \
         give the one that other nodes dial"
    )]
    Unadvertised(SocketAddr),
    /// Give the endpoint an address: a host and a port.
    #[error("{given} is no address for metrics ({source}); give one such as \"127.0.0.1:9090\"")]
    EndpointAddress {
        /// What was given.
        given: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Choose another address for the endpoint, or stop whoever has it.
    #[error("metrics cannot be served on {address} ({source}); choose another address or port")]
    Endpoint {
        /// Where it was to listen.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers ({0}); a boot id cannot be drawn")]
    NoChance(String),
    /// The system gives no thread, timer or runtime.
    #[error("the node's thread cannot be started ({0})")]
    Thread(#[from] std::io::Error),
    /// The node this one was to be beside has left.
    #[error("the node to be beside has left already")]
    Gone,
}

/// The node has left, or is about to: it takes no more requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the node has left")]
pub struct LeftError;
