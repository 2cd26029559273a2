//! Errors of building a node, and of asking one that has left.

use std::net::SocketAddr;

use baton_core::ids::InvalidName;
use baton_core::schedule::InvalidSchedule;
use baton_core::settings::InvalidSettings;

use crate::partitions::TaskListError;
use crate::plugin::InvalidPluginName;

/// Why a node was not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Change one of the two settings that the message names.
    #[error(transparent)]
    Settings(#[from] InvalidSettings),
    /// Give the node or the namespace another name.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// Give the plugin another name.
    #[error(transparent)]
    Plugin(#[from] InvalidPluginName),
    /// Correct the schedule: the message names the field.
    #[error(transparent)]
    Schedule(#[from] InvalidSchedule),
    /// A task list is not within the limits.
    #[error(transparent)]
    TaskList(#[from] TaskListError),
    /// Choose another address for the lifeline, or switch it off.
    #[error("the lifeline cannot listen on {address} ({source}); choose another address or port")]
    Lifeline {
        /// The address that it was to listen on.
        address: SocketAddr,
        /// The error of the system.
        source: std::io::Error,
    },
    /// Set an address of the lifeline that other nodes can dial.
    #[error(
        "the lifeline listens on {0}, which is every address of this machine; \
         set lifeline.advertise to the address that other nodes dial"
    )]
    Unadvertised(SocketAddr),
    /// Give the endpoint an address: a host and a port.
    #[error("{given} is no address for metrics ({source}); give one such as \"127.0.0.1:9090\"")]
    EndpointAddress {
        /// The text that was given.
        given: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// Choose another address for the endpoint, or stop the program that has it.
    #[error("metrics cannot be served on {address} ({source}); choose another address or port")]
    Endpoint {
        /// The address that it was to listen on.
        address: SocketAddr,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The system has no random numbers.
    #[error("the system has no random numbers ({0}), and a process needs one as its id")]
    Random(String),
    /// The system has no thread, timer or descriptor left.
    #[error("the node's thread cannot be started ({0})")]
    Thread(#[from] std::io::Error),
    /// The node whose thread this one was to share has left.
    #[error("the node whose thread this node was to share has left")]
    Gone,
}

/// The node has left, or is about to, and takes no more requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the node has left")]
pub struct LeftError;
