//! An original: its claims and its printed figures.

use crate::{Claims, OriginalError, Published};

/// A published study that a study repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    pub claims: Claims,
    /// Its printed figures.
    pub published: Published,
}

/// A file's text, with its name for errors.
#[derive(Clone, Copy, Debug)]
pub struct NamedText<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl Original {
    /// Reads the two files.
    pub fn read(claims: NamedText<'_>, published: NamedText<'_>) -> Result<Self, OriginalError> {
        Ok(Self {
            claims: Claims::from_toml(claims.text).map_err(|source| OriginalError::Claims {
                file: claims.file.to_owned(),
                source,
            })?,
            published: Published::from_csv(published.text, published.file)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! files {
        ($name:literal) => {
            (
                $name,
                include_str!(concat!("../../../studies/", $name, "/claims.toml")),
                include_str!(concat!("../../../studies/", $name, "/published.csv")),
            )
        };
    }

    #[test]
    fn every_claim_and_every_value_of_the_five_originals_reads() {
        for (name, claims, published) in [
            files!("bonnie-2010"),
            files!("home-usb"),
            files!("iozone-2003"),
            files!("ntfs-ext4"),
            files!("small-files"),
        ] {
            let named = |text| NamedText { file: name, text };
            let original = Original::read(named(claims), named(published));
            let original = original.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(original.claims.study, name);
            let written = claims.matches("\n[[claim]]").count();
            assert_eq!(original.claims.claims.len(), written, "{name}");
            assert_eq!(
                original.published.rows.len(),
                published.lines().count() - 1,
                "{name}"
            );
        }
    }
}
