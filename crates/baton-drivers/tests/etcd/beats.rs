//! The words of one node.
