//! PgBouncer: a pool of connections to a PostgreSQL that its settings name.

use super::recipe::{Recipe, ServerLocation};
use crate::error::TestbedError;
use crate::install::PGBOUNCER;

/// It takes its settings from a file alone: what follows program and file are the file's lines.
const START: &str =
    r#"program=$1 file=$2; shift 2; printf '%s\n' "$@" >"$file"; exec "$program" "$file""#;

pub fn recipe(location: &ServerLocation<'_>) -> Result<Recipe, TestbedError> {
    let program = PGBOUNCER.find()?.display().to_string();
    let words = ["-c", START, "pgbouncer"].map(str::to_owned).into_iter();
    let settings = [
        "[pgbouncer]".to_owned(),
        "listen_addr = 127.0.0.1".to_owned(),
        format!("listen_port = {}", location.ports[0].number),
        "unix_socket_dir =".to_owned(),
        "auth_type = any".to_owned(),
    ];
    Ok(Recipe {
        program: "/bin/sh".into(),
        arguments: words.chain([program, location.path("pgbouncer.ini")]).chain(settings).collect(),
        environment: Vec::new(),
        unprivileged: true,
    })
}
