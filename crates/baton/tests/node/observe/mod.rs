//! What a node says of itself: over HTTP, to a strict reader, and as the documents promise it.
//!
//! ```text
//!   client ── GET ──► a real node's endpoint ──► parse: every line by the rules
//!                                                  ├── figures    numbers are what happened
//!                                                  ├── endpoint   health through an outage
//!                                                  └── documents  docs, dashboard, alerts
//!   alerts ── what scrapes would show ──► promtool: which alerts fire
//! ```

mod alerts;
mod client;
mod documents;
mod endpoint;
mod figures;
mod parse;
mod promql;
