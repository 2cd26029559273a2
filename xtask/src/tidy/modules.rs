//! The modules that a Rust file declares in files of their own.

use super::tokens::{is_keyword, rust_code, tokens};

/// The files' paths below the folder of the file's children, without extension: `mod a;` is `a`,
/// and `mod a { mod b; }` is `a/b`. `#[path]` is not understood, and not used here.
pub fn declared(path: &str, text: &str) -> Vec<String> {
    let Some(code) = rust_code(path, text) else {
        return Vec::new();
    };
    let tokens = tokens(&code);
    let mut found = Vec::new();
    // The inline modules around, each with the depth of braces inside of it.
    let mut around: Vec<(&str, usize)> = Vec::new();
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                around.retain(|(_, inside)| *inside <= depth);
            }
            "mod" if is_keyword(&tokens, at, "mod") => {
                let after = (tokens.get(at + 1), tokens.get(at + 2));
                let (Some(name), Some(mark)) = after else {
                    continue;
                };
                match mark.text {
                    "{" => around.push((name.text, depth + 1)),
                    ";" => {
                        let names = around.iter().map(|(name, _)| *name);
                        let parts: Vec<&str> = names.chain([name.text]).collect();
                        found.push(parts.join("/"));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::declared;

    #[test]
    fn declarations_are_found_with_the_modules_around() {
        let text = "mod a;\npub(crate) mod b { mod c { fn f() {} } mod d; }\nmod e;\n";
        assert_eq!(declared("x.rs", text), ["a", "b/d", "e"]);
    }

    #[test]
    fn comments_and_strings_declare_nothing() {
        let text = "// mod a;\nconst B: &str = \"mod b;\";\nmod tests {}\n";
        assert_eq!(declared("x.rs", text), [""; 0]);
    }
}
