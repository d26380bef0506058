//! Charts as files, which are laid out before any font is known: no text may leave the drawing or
//! cover another, whichever font the viewer has.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Browser, left_in, number};
use crate::harness::Desk;

const DRAWINGS: &str = include_str!("drawings.js");

/// Every file below `folder` that is a drawing.
fn drawings(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(drawings(&path));
        } else if path.extension().is_some_and(|extension| extension == "svg") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn no_text_of_a_drawing_is_cut_or_covers_another_with_any_font() {
    let mut page = "<!doctype html><meta charset=\"utf-8\">".to_owned();
    let results = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../results"));
    let desk = Desk::new();
    let study = ["compare", "fake", "--study", "./small.toml", "--out", "out"];
    desk.run(&study).expect_code(0);
    let charts = ["report", "last", "--out", "out", "--charts", "charts"];
    desk.run(&charts).expect_code(0);
    let all = [drawings(results), drawings(&desk.path("charts"))].concat();
    for path in &all {
        let svg = fs::read_to_string(path).expect("a drawing");
        page.push_str(&format!("<div title=\"{}\">{svg}</div>", path.display()));
    }
    page.push_str(&format!(
        "<pre id=\"driven\"></pre><script>{DRAWINGS}</script>"
    ));
    for browser in Browser::with_each_font_set("no_text_of_a_drawing_is_cut") {
        // A drawing asks for a font without serifs; it has no room for all letters as wide as m.
        if !browser.fonts.is_proportional() {
            continue;
        }
        let fonts = browser.fonts.sans;
        let copy = browser.folder.path().join("drawings.html");
        fs::write(&copy, &page).expect("a copy");
        let found = left_in(&browser.dom(&format!("file://{}", copy.display()), 1280));
        assert_eq!(found["drawings"], json!(all.len()), "{fonts}");
        assert!(number(&found["texts"]) > 500.0, "{}", found["texts"]);
        for wrong in ["cut", "covered"] {
            assert_eq!(found[wrong], json!([]), "{wrong} in {fonts}");
        }
    }
}
