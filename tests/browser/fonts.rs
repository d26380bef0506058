//! The fonts that a page is opened with: chosen sets, and none of the others that the machine has.
//!
//! A page asks for many families and takes what there is, so that what fits with one machine's
//! fonts may be cut or too small to touch with another's. The sets are the extremes: letters as
//! wide as Arial's, the widest, the narrowest, and the highest lines.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::harness::not_checked;

/// The fonts of a machine that has no other.
pub(super) struct FontSet {
    /// What a skip says.
    name: &'static str,
    /// The Debian package, and the directory in which it has the files.
    package: &'static str,
    folder: &'static str,
    files: &'static [&'static str],
    /// The families that a page gets where it asks for any without serifs, with serifs, or as wide
    /// for each letter.
    pub(super) sans: &'static str,
    serif: &'static str,
    mono: &'static str,
}

/// The fonts of charts, which are in this repository: there wherever the tests are.
const CARRIED: FontSet = FontSet {
    name: "the fonts of charts",
    package: "none",
    folder: concat!(env!("CARGO_MANIFEST_DIR"), "/../fslab-render/fonts"),
    files: &["LiberationSans-Regular", "LiberationSans-Bold"],
    sans: "Liberation Sans",
    serif: "Liberation Sans",
    mono: "Liberation Sans",
};

/// The first is there everywhere.
const SETS: [FontSet; 4] = [
    CARRIED,
    FontSet {
        name: "DejaVu Sans Mono alone, whose letters are widest",
        package: "fonts-dejavu-core",
        folder: "/usr/share/fonts/truetype/dejavu",
        files: &["DejaVuSansMono", "DejaVuSansMono-Bold"],
        sans: "DejaVu Sans Mono",
        serif: "DejaVu Sans Mono",
        mono: "DejaVu Sans Mono",
    },
    FontSet {
        name: "Open Sans, whose lines are high",
        package: "fonts-open-sans",
        folder: "/usr/share/fonts/truetype/open-sans",
        files: &["OpenSans-Regular", "OpenSans-Bold"],
        sans: "Open Sans",
        serif: "Open Sans",
        mono: "Open Sans",
    },
    FontSet {
        name: "Open Sans Condensed, whose letters are narrowest",
        package: "fonts-open-sans",
        folder: "/usr/share/fonts/truetype/open-sans",
        files: &["OpenSans-CondLight", "OpenSans-CondBold"],
        sans: "Open Sans Condensed",
        serif: "Open Sans Condensed",
        mono: "Open Sans Condensed",
    },
];

/// Families that a page names or a browser falls back to, and which generic one each is like.
const ASKED: [(&str, Kind); 10] = [
    ("sans-serif", Kind::Sans),
    ("Arial", Kind::Sans),
    ("Helvetica", Kind::Sans),
    ("Sans", Kind::Sans),
    ("system-ui", Kind::Sans),
    ("serif", Kind::Serif),
    ("Times New Roman", Kind::Serif),
    ("monospace", Kind::Mono),
    ("Monospace", Kind::Mono),
    ("Courier New", Kind::Mono),
];

#[derive(Clone, Copy)]
enum Kind {
    Sans,
    Serif,
    Mono,
}

impl FontSet {
    /// The set with which a page is opened where its fonts do not matter.
    pub(super) fn usual() -> &'static Self {
        &SETS[0]
    }

    pub(super) fn is_usual(&self) -> bool {
        self.name == Self::usual().name
    }

    /// Every set that is installed; those that are not are named as not checked.
    pub(super) fn installed(test: &str) -> Vec<&'static Self> {
        let (there, missing): (Vec<_>, Vec<_>) = SETS.iter().partition(|set| set.is_installed());
        for set in missing {
            let (name, package) = (set.name, set.package);
            not_checked(
                &format!("{test} with {name}"),
                &format!("{package} is not installed; scripts/setup installs it"),
            );
        }
        there
    }

    /// Whether the letters of a text without serifs differ in width.
    pub(super) fn is_proportional(&self) -> bool {
        self.sans != self.mono || self.mono != "DejaVu Sans Mono"
    }

    fn is_installed(&self) -> bool {
        self.paths().all(|path| path.is_file())
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let folder = Path::new(self.folder);
        self.files
            .iter()
            .map(|name| folder.join(format!("{name}.ttf")))
    }

    /// Writes what fontconfig reads (fonts.conf(5)) for a machine with this set alone, and returns
    /// its path, which FONTCONFIG_FILE names.
    pub(super) fn configuration(&self, folder: &Path) -> PathBuf {
        let fonts = folder.join("fonts");
        fs::create_dir(&fonts).expect("a directory for fonts");
        // Links: a package's directory may have other families of other packages.
        for path in self.paths() {
            let name = path.file_name().expect("a file");
            symlink(&path, fonts.join(name)).expect("a link to a font");
        }
        let mut text = format!(
            "<?xml version=\"1.0\"?><!DOCTYPE fontconfig SYSTEM \"urn:fontconfig:fonts.dtd\">\n\
             <fontconfig><dir>{}</dir><cachedir>{}</cachedir>\n",
            fonts.display(),
            folder.join("font-cache").display()
        );
        for (asked, kind) in ASKED {
            let family = match kind {
                Kind::Sans => self.sans,
                Kind::Serif => self.serif,
                Kind::Mono => self.mono,
            };
            text.push_str(&format!(
                "<alias binding=\"same\"><family>{asked}</family>\
                 <prefer><family>{family}</family></prefer></alias>\n"
            ));
        }
        text.push_str("</fontconfig>\n");
        let path = folder.join("fonts.conf");
        fs::write(&path, text).expect("a configuration of fonts");
        path
    }
}
