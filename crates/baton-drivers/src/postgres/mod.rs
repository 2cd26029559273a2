//! PostgreSQL.

use std::sync::Arc;

use baton_store::Store;

use crate::address::Address;
use crate::refusal::Refusal;

/// What a URL looks like.
const EXAMPLE: &str = "postgres://user@host:5432/database";

/// Opens the store that the URL names.
pub(crate) async fn open(scheme: &str, rest: &str) -> Result<Arc<dyn Store>, Refusal> {
    let address = Address::parse(scheme, rest, EXAMPLE)?;
    address.options.finish()?;
    let place = address.hosts[0].name.clone();
    Err(Refusal::Unreachable { store: "postgres", place, detail: "not written yet".to_owned() })
}
