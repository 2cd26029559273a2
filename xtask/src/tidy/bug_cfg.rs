//! Rule: no manifest turns the planted bugs on. Only `cargo xtask bugs` may, by `RUSTFLAGS`.

use super::finding::{Finding, numbered};

const FLAG: &str = "baton_bugs";

/// Fires on each line of a manifest or cargo configuration that names the flag, unless the line
/// declares it to the compiler's `check-cfg`. Comments set nothing.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    if !is_settings_of_cargo(path) {
        return Vec::new();
    }
    numbered(text)
        .filter(|(_, line)| !line.trim_start().starts_with('#') && names_flag(line))
        .map(|(line, _)| {
            let message = format!("`{FLAG}` may be declared in `check-cfg`, never set");
            Finding::new(path, line, message)
        })
        .collect()
}

fn is_settings_of_cargo(path: &str) -> bool {
    let is = |name: &str| path == name || path.ends_with(&format!("/{name}"));
    is("Cargo.toml") || is(".cargo/config.toml") || is(".cargo/config")
}

fn names_flag(line: &str) -> bool {
    let declared = format!("cfg({FLAG})");
    match line.contains("check-cfg") {
        true => line.replace(&declared, "").contains(FLAG),
        false => line.contains(FLAG),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn fires_wherever_the_flag_is_set() {
        let rustflags = "[build]\nrustflags = [\"--cfg\", \"baton_bugs\"]\n";
        assert_eq!(check(".cargo/config.toml", rustflags).len(), 1);
        let feature = "[features]\nbaton_bugs = []\n";
        assert_eq!(check("crates/baton-core/Cargo.toml", feature).len(), 1);
        let both = "flags = \"--check-cfg=cfg(baton_bugs) --cfg=baton_bugs\"\n";
        assert_eq!(check("sub/.cargo/config.toml", both).len(), 1);
    }

    #[test]
    fn is_silent_on_the_declaration_and_on_other_files() {
        let lint = "# baton_bugs is set by xtask.\nx = { check-cfg = [\"cfg(baton_bugs)\"] }\n";
        assert_eq!(check("Cargo.toml", lint), []);
        assert_eq!(check("crates/a/src/lib.rs", "#[cfg(baton_bugs)]\n"), []);
    }
}
