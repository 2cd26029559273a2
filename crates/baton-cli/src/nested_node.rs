//! A node inside the command of another node: it must not stand for the leadership that its own
//! parent holds, for it would wait until its parent's command, and itself with it, is stopped.

use std::path::PathBuf;

use crate::commands::run::term::LED_NAMESPACE;
use crate::config::{Config, Environment, StoreUrl};
use crate::error::CommandError;

/// Refuses a node that would take part where the node leads whose command this process belongs to.
///
/// `baton run` names the store and the namespace in its command's environment, for commands that
/// only look. A node started there finds them too, whether it wants them or not.
pub fn refuse_nested(config: &Config, environment: &Environment) -> Result<(), CommandError> {
    let [epoch, node, namespace, store] =
        ["BATON_EPOCH", "BATON_NODE_ID", "BATON_NAMESPACE", "BATON_STORE"]
            .map(|name| environment.get(name));
    let (Some(epoch), Some(node), Some(namespace), Some(store)) = (epoch, node, namespace, store)
    else {
        return Ok(());
    };
    // A key and a schedule have namespaces of their own, beside the one that was configured.
    let leads = environment.get(LED_NAMESPACE).unwrap_or(namespace);
    let is_apart = !config.settings.enabled || config.namespace.as_str() != leads;
    if is_apart || !is_same_store(&config.store, &StoreUrl::new(store)) {
        return Ok(());
    }
    let (node, epoch) = (node.to_owned(), epoch.to_owned());
    let (namespace, store) = (config.namespace.clone(), config.store.clone());
    Err(CommandError::Nested { node, epoch, namespace, store })
}

/// Do both name the same store, whatever the password and however it is given?
fn is_same_store(one: &StoreUrl, other: &StoreUrl) -> bool {
    match (one.file(), other.file()) {
        (Some(one), Some(other)) => {
            let real = |path: &std::path::Path| -> PathBuf {
                path.canonicalize().unwrap_or_else(|_| path.to_owned())
            };
            real(one) == real(other)
        }
        // A store in memory is its process's own.
        _ => !one.with_secrets().starts_with("memory:") && named(one) == named(other),
    }
}

/// What a URL says of the store itself: not who connects, nor with which secret.
fn named(url: &StoreUrl) -> (String, Vec<&str>) {
    let url = url.with_secrets();
    let (place, options) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = place.split_once("://").unwrap_or(("", place));
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let is_secret = |option: &&str| {
        let name = option.split('=').next().unwrap_or_default().to_lowercase();
        ["pass", "pwd", "secret", "token", "key", "user"].iter().any(|word| name.contains(word))
    };
    let mut options: Vec<&str> = options.split('&').filter(|option| !is_secret(option)).collect();
    options.sort_unstable();
    (format!("{scheme}://{place}"), options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        is_same_store(&StoreUrl::new(one), &StoreUrl::new(other))
    }

    #[test]
    fn a_store_is_the_same_for_every_user_and_connection_option() {
        assert!(same("postgres://me:pw@db:5432/x", "postgres://db:5432/x"));
        assert!(same(
            "postgres://me@db/x?password_file=/p&tls=require",
            "postgres://db/x?tls=require"
        ));
        assert!(same(
            "sqlite:///tmp/../tmp/none.db?busy_timeout_ms=9",
            "sqlite:///tmp/../tmp/none.db"
        ));
        assert!(same(
            "s3://bucket/a?endpoint=http://h&secret_key=s",
            "s3://bucket/a?endpoint=http://h"
        ));
    }

    #[test]
    fn stores_that_differ_in_place_or_in_an_option_are_others() {
        assert!(!same("postgres://me:pw@db/x", "postgres://me:pw@db/y"));
        assert!(!same("redis://cache/0", "redis://cache/1"));
        assert!(!same("s3://bucket?endpoint=http://h", "s3://bucket?endpoint=http://i"));
        assert!(!same("sqlite:///a.db", "postgres://a.db"));
        assert!(!same("memory://", "memory://"));
    }
}
