//! Compares a configuration fragment with the configuration that resulted from it.
//!
//! Kconfig silently drops a symbol that it does not know or whose dependencies are not met; the
//! kernel would then lack a file system that the catalogue lists.

use std::collections::BTreeMap;

/// The lines of `fragment` that did not take effect in `config`, a `.config`, in their order. Of
/// several lines of a symbol the last counts.
pub(crate) fn lines_without_effect(fragment: &str, config: &str) -> Vec<String> {
    let found: BTreeMap<&str, &str> = assignments(config).collect();
    let wanted: BTreeMap<&str, &str> = assignments(fragment).collect();
    assignments(fragment)
        .filter(|(symbol, value)| wanted.get(symbol) == Some(value))
        // A symbol that is off is a comment in `.config`, or absent.
        .filter(|(symbol, value)| *found.get(symbol).unwrap_or(&"n") != *value)
        .map(|(symbol, value)| format!("{symbol}={value}"))
        .collect()
}

/// The value of `symbol` in `config`, without its quotes.
pub(crate) fn text_value<'a>(config: &'a str, symbol: &str) -> Option<&'a str> {
    let (_, value) = assignments(config).find(|(found, _)| *found == symbol)?;
    Some(value.trim_matches('"'))
}

fn assignments(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .map(str::trim)
        .filter(|line| line.starts_with("CONFIG_"))
        .filter_map(|line| line.split_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "#\n# Automatically generated\n#\nCONFIG_A=y\n# CONFIG_B is not set\n\
                          CONFIG_NAME=\"x\"\nCONFIG_HZ=100\nCONFIG_ODD=\"a=b\"\n";

    #[test]
    fn lines_that_were_dropped_or_changed_are_named_and_others_are_not() {
        let fragment = "# A comment with CONFIG_Z=y\nCONFIG_A=y\nCONFIG_B=n\nCONFIG_MISSING=n\n\
                        CONFIG_NAME=\"x\"\nCONFIG_ODD=\"a=b\"\n";
        assert!(lines_without_effect(fragment, CONFIG).is_empty());
        let refused = "CONFIG_MISSING=y\nCONFIG_B=y\nCONFIG_A=n\nCONFIG_NAME=\"y\"\nCONFIG_HZ=250";
        let lines: Vec<&str> = refused.lines().collect();
        assert_eq!(lines_without_effect(refused, CONFIG), lines);
    }

    #[test]
    fn of_several_lines_of_a_symbol_the_last_counts() {
        let fragment = "CONFIG_A=n\nCONFIG_HZ=250\nCONFIG_A=y\nCONFIG_HZ=100\n";
        assert!(lines_without_effect(fragment, CONFIG).is_empty());
        let refused = lines_without_effect("CONFIG_A=y\nCONFIG_A=n\n", CONFIG);
        assert_eq!(refused, ["CONFIG_A=n"]);
    }

    #[test]
    fn a_text_is_read_without_its_quotes() {
        assert_eq!(text_value(CONFIG, "CONFIG_NAME"), Some("x"));
        assert_eq!(text_value(CONFIG, "CONFIG_B"), None);
    }
}
