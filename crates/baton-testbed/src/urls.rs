//! Broken URLs with a secret in them: whatever a program says of one, the secret is not in it.

use baton_core::rng::Rng;

/// The secret. No word of any message has a part of it.
pub const MARKER: &str = "zq7Xkw9";

/// A port without a listener: every connection is refused at once.
const NOWHERE: &str = "127.0.0.1:1";

/// The names that people give to a password.
const NAMES: [&str; 10] = [
    "password",
    "pwd",
    "pass",
    "PASSWORD",
    "passwd",
    "token",
    "secret_key",
    "auth",
    "password_env",
    "password_file",
];

/// Every scheme of ours, and some that are not.
const SCHEMES: [&str; 12] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "redis",
    "rediss",
    "s3",
    "etcd",
    "sqlite",
    "memory",
    "postgress",
    "Redis",
];

/// What may stand inside a password and end a part of a URL.
const INSIDE: [&str; 10] = ["?", "/", "&", "=", "#", "@", ":", "%", " ", "1/"];

/// What may go wrong between the parts.
const FAULTS: [(&str, &str); 10] = [
    ("://", ":"),
    ("://", "//"),
    ("://", ":/"),
    ("://", ""),
    ("@", ""),
    (":", ""),
    ("@", ":"),
    ("@", "/@"),
    ("://", " ://"),
    ("/app", "/app?"),
];

/// This many URLs, the same for the same seed.
pub fn broken(seed: u64, count: usize) -> Vec<String> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| one(&mut rng)).collect()
}

fn one(rng: &mut Rng) -> String {
    let scheme = pick(rng, &SCHEMES);
    let inside = if rng.one_in(2) { pick(rng, &INSIDE) } else { "" };
    let password = match rng.one_in(2) {
        true => format!("{inside}{MARKER}"),
        false => format!("a{inside}{MARKER}{inside}b"),
    };
    let name = pick(rng, if inside.is_empty() { &NAMES } else { &NAMES[..8] });
    let (place, more) = match scheme {
        "s3" => ("bucket", "endpoint=http://127.0.0.1:1&access_key=k&secret_key=s&"),
        _ => (NOWHERE, ""),
    };
    let url = match rng.below(4) {
        0 => format!("{scheme}://{place}/app?{more}{name}={password}"),
        1 => format!("{scheme}://me@{place}/app?tls=off&{more}{name}={password}"),
        _ => format!("{scheme}://me:{password}@{place}/app"),
    };
    // One slip at a time: two of them can make another sound URL, with the password as its path.
    if !inside.is_empty() {
        return url;
    }
    let (from, to) = FAULTS[index(rng, FAULTS.len())];
    let (from, to) = if from == ":" { (":a", "a") } else { (from, to) };
    url.replacen(from, to, 1)
}

fn pick(rng: &mut Rng, from: &[&'static str]) -> &'static str {
    from[index(rng, from.len())]
}

fn index(rng: &mut Rng, length: usize) -> usize {
    usize::try_from(rng.below(length as u64)).expect("it is below a length")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_the_secret_and_the_same_seed_gives_the_same() {
        let urls = broken(1, 500);
        assert!(urls.iter().all(|url| url.contains(MARKER)));
        assert_eq!(urls, broken(1, 500));
    }
}
