//! `baton namespaces`: the namespaces of a store, one a line.

use crate::error::{CommandError, Exit};
use crate::open_store::OpenStore;
use crate::output::stdout;

use super::StoreArguments;

/// How many are read at once.
const PAGE: u32 = 1_000;

pub async fn run(arguments: &StoreArguments) -> Result<Exit, CommandError> {
    let opened = arguments.open_to_read().await?;
    let names = names(&opened).await?;
    stdout::json_or_text(arguments.json, &names, || match names.is_empty() {
        true => "the store has no namespaces yet\n".to_owned(),
        false => names.join("\n") + "\n",
    });
    Ok(Exit::DONE)
}

async fn names(opened: &OpenStore) -> Result<Vec<String>, CommandError> {
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let page = opened.ask(opened.store.namespaces(opened.namespace(), after, PAGE)).await?;
        names.extend(page.iter().map(ToString::to_string));
        after = page.into_iter().last();
        if after.is_none() {
            return Ok(names);
        }
    }
}
