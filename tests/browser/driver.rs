//! A browser, and the scripts that work its page and leave what they saw.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::fonts::FontSet;
use super::{Report, report};
use crate::harness::skip;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Milliseconds of the page's own time within which a driver has to end.
const BUDGET_MS: u32 = 20_000;

const BEFORE: &str = include_str!("before.js");
const DRIVERS: &str = include_str!("drivers.js");

/// No window is narrower.
const WINDOW_MIN: u32 = 500;

/// A page and a browser to open it with, which has the fonts of one set and no other.
pub(super) struct Browser {
    pub(super) program: PathBuf,
    pub(super) folder: tempfile::TempDir,
    pub(super) fonts: &'static FontSet,
    pub(super) font_configuration: PathBuf,
    pub(super) report: &'static Report,
}

/// What a driver left.
pub(super) struct Driven {
    pub(super) found: Value,
    pub(super) copied: Value,
}

impl Browser {
    /// `None`, with the reason said, where there is none.
    pub(super) fn new(test: &str) -> Option<Self> {
        let program = program(test)?;
        Some(Self::with(program, FontSet::usual()))
    }

    /// One for each set of fonts that is installed; none, with the reason said, where there is no
    /// browser.
    pub(super) fn with_each_font_set(test: &str) -> impl Iterator<Item = Self> {
        let program = program(test);
        let sets = program.is_some().then(|| FontSet::installed(test));
        let sets = sets.into_iter().flatten();
        sets.zip(program.into_iter().cycle())
            .map(|(fonts, program)| Self::with(program, fonts))
    }

    fn with(program: PathBuf, fonts: &'static FontSet) -> Self {
        let folder = tempfile::Builder::new().prefix("fslab-browser-").tempdir();
        let folder = folder.expect("a directory for the browser");
        Self {
            program,
            font_configuration: fonts.configuration(folder.path()),
            folder,
            fonts,
            report: report(),
        }
    }

    /// Opens the page at `hash` in a window of that width, runs the driver of that name, and
    /// demands that nothing complains.
    pub(super) fn drive(&self, hash: &str, width: u32, driver: &str) -> Driven {
        let page =
            self.report
                .page
                .replacen("<head>", &format!("<head><script>{BEFORE}</script>"), 1);
        let (content, _) = page.rsplit_once("</body>").expect("the body's end");
        let driver = format!("<script>const DRIVER = \"{driver}\";\n{DRIVERS}</script>");
        let copy = self.folder.path().join("page.html");
        let printed = "<pre id=\"driven\"></pre>";
        let document = match width < WINDOW_MIN {
            true => format!("{printed}{}", framed(&format!("{content}{driver}"), width)),
            false => format!("{content}{printed}{driver}</body></html>"),
        };
        fs::write(&copy, document).expect("a copy");
        let dom = self.dom(&format!("file://{}#{hash}", copy.display()), width);
        let driven = left_in(&dom);
        assert_eq!(driven["complaints"], json!([]), "the page complains");
        Driven {
            found: driven["found"].clone(),
            copied: driven["copied"].clone(),
        }
    }

    /// The document of the page at `address` after its scripts.
    pub(super) fn dom(&self, address: &str, width: u32) -> String {
        let profile = tempfile::tempdir_in(self.folder.path()).expect("a profile");
        let output = Command::new(&self.program)
            .env("FONTCONFIG_FILE", &self.font_configuration)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
            ])
            .args([
                "--no-first-run",
                "--disable-background-networking",
                "--disable-sync",
            ])
            .args([
                "--disable-component-update",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("--window-size={width},800"))
            .arg(format!("--virtual-time-budget={BUDGET_MS}"))
            .args(["--dump-dom", address])
            .stdin(Stdio::null())
            .output()
            .expect("the browser starts");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("text")
    }
}

/// The browser of this machine; `None`, with the reason said, where there is none.
fn program(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path);
    let mut programs = folders.flat_map(|folder| BROWSERS.map(|name| folder.join(name)));
    let program = programs.find(|program| program.is_file());
    if program.is_none() {
        let required = std::env::var("FSLAB_TEST_BROWSER").is_ok_and(|word| word == "required");
        assert!(!required, "there is no chromium");
        skip(test, "there is no chromium; scripts/setup installs it");
    }
    program
}

/// What a script of a page left in it as JSON.
pub(super) fn left_in(dom: &str) -> Value {
    let left = dom.rsplit_once("<pre id=\"driven\">");
    let left = left.and_then(|(_, rest)| rest.split_once("</pre>"));
    let Some((left, _)) = left else {
        panic!("the page ends early: {}", &dom[..dom.len().min(2000)]);
    };
    let plain = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&nbsp;", "\u{a0}"),
        ("&amp;", "&"),
    ];
    let plain = plain.iter().fold(left.to_owned(), |text, (name, letter)| {
        text.replace(name, letter)
    });
    serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {plain}"))
}

/// A page in a frame that is narrower than any window.
fn framed(page: &str, width: u32) -> String {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<iframe width=\"{width}\" height=\"800\" style=\"border:0\" srcdoc=\"{page}\"></iframe>"
    )
}
