//! What documents promise, by file system and mount options.

use fslab_model::PromiseId;
use serde::Deserialize;

use crate::StateFault;

/// The promises that come with fslab.
const BUILT_IN: &str = include_str!("../promises.toml");

/// A promise with its source.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// Which.
    pub id: PromiseId,
    /// The promise in a sentence.
    pub text: String,
    /// The document, with its words or their sense.
    pub source: String,
    /// The file systems that it is about; `None` for all.
    #[serde(default)]
    fs: Option<Vec<String>>,
    /// Mount options with which it does not hold.
    #[serde(default)]
    except: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promises {
    promise: Vec<Promise>,
}

impl Promises {
    /// Reads promises.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Those of the file systems in the catalogue.
    ///
    /// # Panics
    /// Never: a test reads the text.
    pub fn built_in() -> Self {
        Self::parse(BUILT_IN).expect("a test reads it")
    }

    /// The promise with this id that the file system `fs` gives with these mount options.
    pub fn of(&self, id: PromiseId, fs: &str, options: &[String]) -> Option<&Promise> {
        let is_of = |promise: &&Promise| {
            let names = promise.fs.as_ref();
            promise.id == id
                && names.is_none_or(|names| names.iter().any(|name| name == fs))
                && !promise.except.iter().any(|it| options.contains(it))
        };
        self.promise.iter().find(is_of)
    }

    /// True if a finding breaks a promise of the file system `fs` with these mount options.
    pub fn is_broken(&self, finding: &StateFault, fs: &str, options: &[String]) -> bool {
        self.of(finding.promise, fs, options).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_promise_has_a_source_and_is_there_once() {
        let promises = Promises::built_in();
        let mut ids: Vec<PromiseId> = promises.promise.iter().map(|it| it.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), promises.promise.len());
        for promise in &promises.promise {
            assert!(promise.source.contains(':'), "{promise:?}");
            assert!(promise.text.ends_with('.'), "{promise:?}");
        }
    }

    #[test]
    fn nothing_is_promised_that_no_document_says() {
        let promises = Promises::built_in();
        let holds =
            |id, fs: &str, option: &str| promises.of(id, fs, &[option.to_owned()]).is_some();
        assert!(holds(PromiseId::Fsync, "jfs", "noatime"));
        assert!(!holds(PromiseId::Fsync, "ext4", "barrier=0"));
        assert!(holds(PromiseId::NoStaleData, "ext4", "data=ordered"));
        assert!(!holds(PromiseId::NoStaleData, "ext4", "data=writeback"));
        assert!(!holds(PromiseId::NoStaleData, "ext2", ""));
        assert!(!holds(PromiseId::Rename, "ext4", ""));
    }
}
