//! The part of the survey on names: their case, their length, and their characters.

use fslab_sys::os::OsStringExt;
use std::ffi::{OsStr, OsString};
use std::fs;

use fslab_model::CaseRule;

use super::check_context::is_refusal;
use super::failure::ConformanceFailure;
use super::survey::Survey;

/// NAME_MAX of Linux.
const NAME_BYTES_MAX: u32 = 255;

impl Survey<'_> {
    /// How names that differ in their case are treated.
    pub(super) fn case(&mut self) -> Result<CaseRule, ConformanceFailure> {
        self.make("CaseProbe", b"x")?;
        let other = self.folder.join("caseprobe");
        let as_written = self.names()?.contains(OsStr::new("CaseProbe"));
        self.checker.check()?;
        let rule = match fs::metadata(&other) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => CaseRule::Sensitive,
            Err(error) => return Err(ConformanceFailure::io("stat", &other, &error)),
            Ok(_) if as_written => CaseRule::Preserving,
            Ok(_) => CaseRule::Folding,
        };
        self.empty()?;
        Ok(rule)
    }

    /// The longest name, in bytes.
    pub(super) fn name_bytes(&mut self) -> Result<u32, ConformanceFailure> {
        let plain = |bytes: u32| OsString::from("n".repeat(bytes as usize));
        let mut found = NAME_BYTES_MAX;
        if let Some(promised) = self.promises.map(|promises| promises.name_bytes_max) {
            found = promised;
            if self.keeps(&plain(promised))? {
                if self.keeps(&plain(promised + 1))? {
                    return Err(ConformanceFailure::against_entry(format!(
                        "the entry understates: it says that names have at most {promised} \
                         bytes, and one of {} was kept",
                        promised + 1
                    )));
                }
                return Ok(found);
            }
            // A limit in characters allows this many bytes only for other letters than ASCII.
            let wide = |letters: u32| OsString::from("日".repeat(letters as usize));
            let letters = promised / 3;
            let counts_letters = letters * 3 > NAME_BYTES_MAX
                && self.keeps(&wide(letters))?
                && !self.keeps(&wide(letters + 1))?;
            if !counts_letters {
                return Err(ConformanceFailure::against_entry(format!(
                    "the entry says that names have up to {promised} bytes, but one of that length \
                     was refused, or cut"
                )));
            }
            found = found.min(NAME_BYTES_MAX);
        }
        while found > 1 && !self.keeps(&plain(found))? {
            found -= 1;
        }
        Ok(found)
    }

    /// Those of some unusual names that are kept.
    pub(super) fn odd_names(&mut self) -> Result<Vec<OsString>, ConformanceFailure> {
        const ODD: [&[u8]; 13] = [
            b"back\\slash",
            b"co:lon",
            b"ques?tion",
            b"st*ar",
            b"quo\"te",
            b"less<more>",
            b"pi|pe",
            b"new\nline",
            b"control\x01\x1f",
            b"trailing blank ",
            b"trailing dot.",
            b" leading blank",
            b"no-utf8-\xff\xfe",
        ];
        let mut kept = Vec::new();
        for name in ODD {
            let name = OsString::from_vec(name.to_vec());
            if self.keeps(&name)? {
                kept.push(name);
            }
        }
        Ok(kept)
    }

    /// True if a file of that name can be created, and is listed and found by exactly that.
    pub(super) fn keeps(&mut self, name: &OsStr) -> Result<bool, ConformanceFailure> {
        let path = self.folder.join(name);
        let made = fs::write(&path, b"x");
        // A truncated name may collide with another, and an invalid one may give ENOENT.
        let absent = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
        let kept = match made {
            Err(error) if is_refusal(&error) || absent(&error) => false,
            Err(error) => return Err(ConformanceFailure::io("create", &path, &error)),
            Ok(()) => {
                let names = self.names()?;
                names.len() == 1 && names.contains(name) && fs::metadata(&path).is_ok()
            }
        };
        self.empty()?;
        Ok(kept)
    }
}
