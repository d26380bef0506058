//! A subject: a file system with its options and stages, in the form that users type.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::stack::{DiskSpread, StackLayer, disks_of, ensure_disks, parse_layers, split_layers};
use super::subject_error::ParseSubjectError;
use crate::text::text_type::text_type;
use crate::{Network, Stage};

/// A catalogue entry's name with the options for its mkfs and its mount, and its stages before the
/// phases; or what is mounted at one of several directories.
///
/// ```text
///     ext4
///     ext4:data=journal                     a mount option, the short form
///     ext4:mount=data=journal,noatime       the same, in full
///     xfs:mkfs=-m reflink=0                 arguments for mkfs, separated by blanks
///     ext4:mkfs=-O ^metadata_csum:mount=noatime
///     ext4:age=churn,full=80%:fill=90%      stages, in the order in which they are done
///     ext4@mine:noatime                     a guest kernel, by the name of its lab
///     nfs:ext4                              ext4, served by the guest's kernel and mounted again
///     nfs:ext4:client=noac:export=async     the same, with options of client and export
///     smb:ext4, 9p:xfs                      the same over other protocols
///     ext4/luks, xfs/lvm                    on layers, from the file system down to the disk
///     ext4/luks:sector=4096/raid1x2         layers with options; an array of two disks
///     btrfs:raid1x2, zfs:raidz1x4           on several disks by itself
///     ext4:/mnt/a                           a directory: all of the remaining text
/// ```
///
/// Behind a protocol stands what it serves: options for mkfs and mount are those of the local file
/// system, with or without a protocol.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Subject {
    network: Option<Network>,
    fs: String,
    kernel: Option<String>,
    directory: Option<String>,
    mkfs: Vec<String>,
    mount: Vec<String>,
    stages: Vec<Stage>,
    spread: Option<DiskSpread>,
    layers: Vec<StackLayer>,
}

impl Subject {
    /// A file system without options.
    pub fn plain(fs: impl Into<String>) -> Self {
        Self {
            network: None,
            fs: fs.into(),
            kernel: None,
            directory: None,
            mkfs: Vec::new(),
            mount: Vec::new(),
            stages: Vec::new(),
            spread: None,
            layers: Vec::new(),
        }
    }

    /// The file system `fs` that is mounted at the absolute path `directory`.
    pub fn mounted_at(fs: impl Into<String>, directory: impl Into<String>) -> Self {
        Self {
            directory: Some(directory.into()),
            ..Self::plain(fs)
        }
    }

    /// How it is served and mounted again; `None` if it is used where it is mounted.
    pub fn network(&self) -> Option<&Network> {
        self.network.as_ref()
    }

    /// The catalogue name of the file system; behind a protocol, of the local one.
    pub fn fs(&self) -> &str {
        &self.fs
    }

    /// The lab of its guest kernel, if it names one.
    pub fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
    }

    /// The absolute path of its directory, if it is one of several directories.
    pub fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// Arguments for mkfs, one word each.
    pub fn mkfs_arguments(&self) -> &[String] {
        &self.mkfs
    }

    /// Mount options, one word each.
    pub fn mount_options(&self) -> &[String] {
        &self.mount
    }

    /// The stages before the phases, in this order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The disks that the file system spreads over by itself; `None` for one device.
    pub fn spread(&self) -> Option<&DiskSpread> {
        self.spread.as_ref()
    }

    /// The layers below the file system, the upper ones first.
    pub fn layers(&self) -> &[StackLayer] {
        &self.layers
    }

    /// The number of its disks.
    pub fn disks(&self) -> u32 {
        // A subject beyond any number is refused when it is parsed.
        disks_of(self.spread.as_ref(), &self.layers).unwrap_or(u32::MAX)
    }

    /// True if it is the name of a file system and nothing else.
    pub fn is_plain(&self) -> bool {
        *self == Self::plain(&self.fs)
    }

    /// The same fresh: without stages.
    pub fn without_stages(&self) -> Self {
        Self {
            stages: Vec::new(),
            ..self.clone()
        }
    }

    /// The same wherever it runs: without its kernel and its directory.
    pub fn without_place(&self) -> Self {
        Self {
            kernel: None,
            directory: None,
            ..self.clone()
        }
    }

    /// The fill level after its stages, in percent; 0 without any.
    pub fn filled_percent(&self) -> u8 {
        let shares = self.stages.iter().map(Stage::full_percent);
        shares.max().unwrap_or(0)
    }

    fn add_stage(&mut self, text: &str, stage: Stage) -> Result<(), ParseSubjectError> {
        if self.stages.iter().any(|it| it.name() == stage.name()) {
            return Err(ParseSubjectError::StageTwice {
                subject: text.to_owned(),
                stage: stage.name(),
            });
        }
        self.stages.push(stage);
        Ok(())
    }
}

/// The stage in a part of the text, if it is one.
fn stage_of(text: &str, part: &str) -> Result<Option<Stage>, ParseSubjectError> {
    let Some((word, value)) = part.split_once('=') else {
        return Ok(None);
    };
    let stage = Stage::parse(word.trim(), value.trim()).transpose();
    stage.map_err(|source| ParseSubjectError::Stage {
        subject: text.to_owned(),
        source,
    })
}

/// The file system and the lab in `ext4@mine`. What is no name of a lab belongs to the file
/// system's name, since imported runs have subjects of any name.
fn split_kernel(name: &str) -> (&str, Option<&str>) {
    let is_lab = |text: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
        text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_plain)
    };
    match name.split_once('@') {
        Some((fs, lab)) if !fs.is_empty() && is_lab(lab) => (fs, Some(lab)),
        _ => (name, None),
    }
}

/// The kind of a part of the text, between colons.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Mkfs,
    Mount,
    Client,
    Export,
}

impl Section {
    /// The section that a part begins, and what stands behind the keyword. Those of client and
    /// export follow a protocol alone: otherwise they are mount options.
    fn begun_by(part: &str, is_network: bool) -> Option<(Self, &str)> {
        let keywords = [
            ("mkfs=", Self::Mkfs),
            ("mount=", Self::Mount),
            ("client=", Self::Client),
            ("export=", Self::Export),
        ];
        let known = if is_network { 4 } else { 2 };
        keywords[..known]
            .iter()
            .find_map(|&(keyword, section)| Some((section, part.strip_prefix(keyword)?)))
    }

    fn separator(self) -> char {
        match self {
            Self::Mkfs => ' ',
            Self::Mount | Self::Client | Self::Export => ',',
        }
    }
}

fn is_name(fs: &str) -> bool {
    !fs.is_empty() && !fs.contains(char::is_whitespace)
}

/// The words of options that are separated by commas.
fn option_words(text: &str) -> Vec<String> {
    let words = text.split(',').filter(|option| !option.is_empty());
    words.map(str::to_owned).collect()
}

impl FromStr for Subject {
    type Err = ParseSubjectError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A path may end with a blank.
        let begin = text.trim_start();
        let at_directory = begin.split_once(':').filter(|(_, it)| it.starts_with('/'));
        let text = at_directory.map_or(begin.trim_end(), |(fs, _)| fs);
        if let Some((fs, directory)) = at_directory {
            return match is_name(fs) {
                true => Ok(Self::mounted_at(fs, directory)),
                false => Err(ParseSubjectError::NoFileSystem(text.to_owned())),
            };
        }
        let (whole, (text, layers)) = (text, split_layers(text));
        let layers = parse_layers(whole, layers)?;
        let network = Network::split(text)?;
        let local = network.map_or(text, |(_, local)| local);
        let (fs, options) = local
            .split_once(':')
            .map_or((local, None), |(fs, o)| (fs, Some(o)));
        if !is_name(fs) {
            return Err(ParseSubjectError::NoFileSystem(text.to_owned()));
        }
        let (fs, kernel) = split_kernel(fs);
        let mut subject = Self::plain(fs);
        subject.kernel = kernel.map(str::to_owned);
        let mut texts: [String; 4] = Default::default();
        let mut section = Section::Mount;
        let mut after_stage = false;
        for part in options.into_iter().flat_map(|options| options.split(':')) {
            if let Some(stage) = stage_of(text, part)? {
                subject.add_stage(text, stage)?;
                (section, after_stage) = (Section::Mount, true);
                continue;
            }
            let after_spread = DiskSpread::split(part).filter(|_| subject.spread.is_none());
            let part = match after_spread {
                None => part,
                Some((spread, rest)) => {
                    subject.spread = Some(spread);
                    (section, after_stage) = (Section::Mount, true);
                    if rest.is_empty() {
                        continue;
                    }
                    rest
                }
            };
            // A part without a keyword continues the previous one, because an option's value may
            // contain a colon. Values of stages contain none, so after a stage it is a mount
            // option.
            let begun = Section::begun_by(part, network.is_some());
            let is_fresh = begun.is_some() || after_stage;
            let (now, value) = begun.unwrap_or((section, part));
            (section, after_stage) = (now, false);
            if value.trim().is_empty() {
                return Err(ParseSubjectError::EmptyOption(text.to_owned()));
            }
            let into = &mut texts[section as usize];
            if !into.is_empty() {
                into.push(if is_fresh { section.separator() } else { ':' });
            }
            into.push_str(value.trim());
        }
        let [mkfs, mount, client, export] = texts;
        subject.mkfs = mkfs.split_whitespace().map(str::to_owned).collect();
        subject.mount = option_words(&mount);
        subject.network = network.map(|(protocol, _)| Network {
            protocol,
            client: option_words(&client),
            export: option_words(&export),
        });
        ensure_disks(whole, disks_of(subject.spread.as_ref(), &layers))?;
        subject.layers = layers;
        Ok(subject)
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(network) = &self.network {
            write!(f, "{}:", network.protocol)?;
        }
        f.write_str(&self.fs)?;
        if let Some(kernel) = &self.kernel {
            write!(f, "@{kernel}")?;
        }
        if let Some(directory) = &self.directory {
            write!(f, ":{directory}")?;
        }
        if let Some(spread) = &self.spread {
            write!(f, ":{spread}")?;
        }
        if !self.mkfs.is_empty() {
            write!(f, ":mkfs={}", self.mkfs.join(" "))?;
        }
        if !self.mount.is_empty() {
            write!(f, ":mount={}", self.mount.join(","))?;
        }
        let (client, export) = self.network.as_ref().map_or((&[][..], &[][..]), |it| {
            (it.client.as_slice(), it.export.as_slice())
        });
        for (keyword, options) in [("client", client), ("export", export)] {
            if !options.is_empty() {
                write!(f, ":{keyword}={}", options.join(","))?;
            }
        }
        self.stages
            .iter()
            .try_for_each(|stage| write!(f, ":{stage}"))?;
        self.layers
            .iter()
            .try_for_each(|layer| write!(f, "/{layer}"))
    }
}

text_type!(Subject, ParseSubjectError, {
    "description": "A file system with its options: `ext4`, `ext4:mount=noatime`, `xfs:mkfs=-m reflink=0`, `ext4@mine` in the guest kernel `mine`, `nfs:ext4` over NFS, `smb:ext4` over SMB, `9p:ext4` over 9P, `ext4/luks/raid1x2` on layers, `btrfs:raid1x2` on two disks.",
    "type": "string",
    "pattern": "^ *[^: \\t]+(:.*)?$"
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    #[test]
    fn the_short_form_is_a_mount_option() {
        let short: Subject = "ext4:data=journal".parse().expect("short");
        let full: Subject = "ext4:mount=data=journal".parse().expect("full");
        assert_eq!(short, full);
        assert_eq!(short.to_string(), "ext4:mount=data=journal");
    }

    #[test]
    fn mkfs_and_mount_options_are_kept_apart() {
        let subject: Subject = "ext4:mkfs=-O ^metadata_csum -b 1024:mount=noatime,data=ordered"
            .parse()
            .expect("both");
        assert_eq!(subject.fs(), "ext4");
        assert_eq!(
            subject.mkfs_arguments(),
            ["-O", "^metadata_csum", "-b", "1024"]
        );
        assert_eq!(subject.mount_options(), ["noatime", "data=ordered"]);
    }

    #[test]
    fn a_colon_inside_an_option_belongs_to_it() {
        let subject: Subject = "ext4:mkfs=-U clear -L a:b".parse().expect("colon");
        assert_eq!(subject.mkfs_arguments(), ["-U", "clear", "-L", "a:b"]);
    }

    #[test]
    fn stages_are_kept_apart_from_options_and_in_their_order() {
        let subject: Subject = "ext4:fill=20%:noatime:age=mail,full=80%:data=journal"
            .parse()
            .expect("stages");
        assert_eq!(subject.mount_options(), ["noatime", "data=journal"]);
        let stages: Vec<_> = subject.stages().iter().map(ToString::to_string).collect();
        assert_eq!(stages, ["fill=20%", "age=mail,full=80%"]);
        assert_eq!((subject.filled_percent(), subject.is_plain()), (80, false));
        assert_eq!(Subject::plain("ext4").filled_percent(), 0);
        let twice = "ext4:age=mail:age=churn".parse::<Subject>();
        assert!(matches!(twice, Err(ParseSubjectError::StageTwice { .. })));
        let unknown = "ext4:age=".parse::<Subject>();
        assert!(matches!(unknown, Err(ParseSubjectError::Stage { .. })));
    }

    #[test]
    fn the_kernel_stands_behind_an_at_sign_before_the_options() {
        let subject: Subject = "ext4@6.1:user=a@b:age=churn".parse().expect("a kernel");
        assert_eq!((subject.fs(), subject.kernel()), ("ext4", Some("6.1")));
        assert_eq!(subject.mount_options(), ["user=a@b"]);
        assert!(!subject.is_plain());
        assert_eq!(
            subject.without_stages().to_string(),
            "ext4@6.1:mount=user=a@b"
        );
        let elsewhere = subject.without_place().to_string();
        assert_eq!(elsewhere, "ext4:mount=user=a@b:age=churn");
        for imported in ["a@", "@a", "a@b@c", "a@b/c", "a@-b"] {
            let subject: Subject = imported.parse().expect(imported);
            assert_eq!((subject.fs(), subject.kernel()), (imported, None));
        }
    }

    #[test]
    fn a_path_is_the_directory_of_a_subject_with_all_that_follows() {
        let subject: Subject = "ext4:/mnt/a:mkfs=b,age=churn".parse().expect("a directory");
        assert_eq!(subject.directory(), Some("/mnt/a:mkfs=b,age=churn"));
        assert_eq!(
            subject,
            Subject::mounted_at("ext4", "/mnt/a:mkfs=b,age=churn")
        );
        assert_eq!(subject.without_place(), Subject::plain("ext4"));
        assert!(!subject.is_plain());
        // A mount option, however much it resembles one.
        let option: Subject = "ext4:mount=/mnt/a".parse().expect("an option");
        assert_eq!(option.directory(), None);
        let nameless = ":/mnt/a".parse::<Subject>();
        assert!(matches!(nameless, Err(ParseSubjectError::NoFileSystem(_))));
    }

    #[test]
    fn behind_a_protocol_stands_what_it_serves() {
        let text = "nfs:ext4@net:mkfs=-b 1024:noatime:client=vers=4.1,noac:export=async:fill=20%";
        let continued: Subject = text.parse().expect("parses");
        // A part without a keyword continues the one before: it is an argument of mkfs.
        assert_eq!(continued.mkfs_arguments(), ["-b", "1024:noatime"]);
        let text = "nfs:ext4@net:noatime:mkfs=-b 1024:client=vers=4.1,noac:export=async:fill=20%";
        let subject: Subject = text.parse().expect("parses");
        assert_eq!((subject.fs(), subject.kernel()), ("ext4", Some("net")));
        assert_eq!(subject.mount_options(), ["noatime"]);
        assert_eq!(subject.mkfs_arguments(), ["-b", "1024"]);
        assert_eq!(subject.filled_percent(), 20);
        let network = subject.network().expect("a protocol");
        assert_eq!(network.protocol, Protocol::Nfs);
        assert_eq!(network.client, ["vers=4.1", "noac"]);
        assert_eq!(network.export, ["async"]);
        let plain: Subject = "nfs:ext4".parse().expect("parses");
        assert_eq!(plain.network(), Some(&Network::plain(Protocol::Nfs)));
        assert!(!plain.is_plain());
        assert_ne!(plain, Subject::plain("ext4"));
    }

    #[test]
    fn without_a_protocol_client_and_export_are_mount_options() {
        let subject: Subject = "ext4:client=a:export=b".parse().expect("parses");
        assert_eq!(subject.network(), None);
        assert_eq!(subject.mount_options(), ["client=a:export=b"]);
        // What is mounted from a server has the protocol as its type.
        let mounted: Subject = "nfs:/mnt/a".parse().expect("a directory");
        assert_eq!(mounted, Subject::mounted_at("nfs", "/mnt/a"));
        for text in ["nfs:", "nfs: ", "nfs::ext4", "nfs:a b"] {
            let error = text.parse::<Subject>();
            assert!(
                matches!(error, Err(ParseSubjectError::NoFileSystem(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_printed_reads_back_as_the_same_subject() {
        for text in [
            "xfs",
            "xfs:age=churn,score=0.6",
            "ext4:mkfs=-b 1024:mount=noatime:age=churn:fill=90%",
            "xfs:mkfs=-m reflink=0",
            "btrfs:mount=compress=zstd:3,ssd",
            "ext4@6.1",
            "ext4@my-6.15_rc+:mkfs=-b 1024:mount=noatime:age=churn",
            "ext4@",
            "nas@home@work",
            "ext4:/",
            "fuse.sshfs:/mnt/a:b,c=d ",
            "nfs",
            "nfs:xfs",
            "nfs:ext4@6.1:mkfs=-b 1024:mount=noatime:client=noac:export=async:age=churn",
            "smb:ext4:client=cache=none",
            "9p:xfs@6.1",
        ] {
            let subject: Subject = text.parse().expect(text);
            assert_eq!(subject.to_string().parse(), Ok(subject), "{text}");
        }
    }

    #[test]
    fn a_subject_without_a_name_or_with_an_empty_option_is_refused() {
        assert!(matches!(
            "".parse::<Subject>(),
            Err(ParseSubjectError::NoFileSystem(_))
        ));
        assert!(matches!(
            ":noatime".parse::<Subject>(),
            Err(ParseSubjectError::NoFileSystem(_))
        ));
        assert!(matches!(
            "ext4:".parse::<Subject>(),
            Err(ParseSubjectError::EmptyOption(_))
        ));
        assert!(matches!(
            "ext4:mkfs=".parse::<Subject>(),
            Err(ParseSubjectError::EmptyOption(_))
        ));
    }

    #[test]
    fn layers_stand_below_the_file_system_with_options_and_members() {
        let text = "ext4@6.1:noatime:fill=20%/luks:cipher=aes-xts-plain64,sector=4096/raid5x4";
        let subject: Subject = text.parse().expect("a stack");
        assert_eq!((subject.fs(), subject.kernel()), ("ext4", Some("6.1")));
        assert_eq!(subject.mount_options(), ["noatime"]);
        assert_eq!(subject.stages().len(), 1);
        let words: Vec<String> = subject.layers().iter().map(StackLayer::word).collect();
        assert_eq!(words, ["luks", "raid5x4"]);
        let options = &subject.layers()[0].options;
        assert_eq!(options[..], ["cipher=aes-xts-plain64", "sector=4096"]);
        assert_eq!((subject.disks(), subject.is_plain()), (4, false));
        let printed = subject.to_string();
        assert_eq!(
            printed,
            "ext4@6.1:mount=noatime:fill=20%/luks:cipher=aes-xts-plain64,sector=4096/raid5x4"
        );
        assert_eq!(printed.parse::<Subject>(), Ok(subject));
        let nested: Subject = "nfs:xfs/raid0x2/raid1x3/lvm".parse().expect("nested");
        assert_eq!(nested.disks(), 6);
        assert_eq!(nested.to_string(), "nfs:xfs/raid0x2/raid1x3/lvm");
    }

    #[test]
    fn a_slash_that_no_layer_follows_begins_none() {
        for text in [
            "ext4:mount=a/b",
            "ext4/lucks",
            "a/b/c",
            "ext4:usrjquota=a/lvmx",
        ] {
            let subject: Subject = text.parse().expect(text);
            assert_eq!(subject.layers(), [], "{text}");
        }
        let at: Subject = "ext4:/mnt/luks".parse().expect("a directory");
        assert_eq!((at.directory(), at.disks()), (Some("/mnt/luks"), 1));
        let unknown = "ext4/luks/raid9x4"
            .parse::<Subject>()
            .expect_err("no layer");
        assert!(
            unknown.to_string().contains("no layer 'raid9x4'"),
            "{unknown}"
        );
    }

    #[test]
    fn arrays_need_their_number_and_others_have_none() {
        let refused = [
            ("ext4/raid5", "for example raid5x3"),
            ("ext4/raid5x2", "at least 3 members"),
            ("ext4/luksx2", "one device"),
            ("ext4/raid1x17", "at most 16 disks"),
            ("ext4/raid0x4/raid1x5", "at most 16 disks"),
            ("ext4/raid1x4294967295/raid1x2", "at most 16 disks"),
            ("btrfs:raid1x0", "at least one disk"),
        ];
        for (text, reason) in refused {
            let error = text.parse::<Subject>().expect_err(text);
            assert!(error.to_string().contains(reason), "{text}: {error}");
        }
        assert!("ext4/luks:".parse::<Subject>().is_err());
    }

    #[test]
    fn a_file_system_spreads_over_disks_by_itself() {
        let cases = [
            ("btrfs:raid1x2", "raid1", 2, "btrfs:raid1x2"),
            (
                "btrfs:raid1x2,noatime",
                "raid1",
                2,
                "btrfs:raid1x2:mount=noatime",
            ),
            (
                "btrfs:noatime:raid1c3x3",
                "raid1c3",
                3,
                "btrfs:raid1c3x3:mount=noatime",
            ),
            ("zfs:raidz1x4", "raidz1", 4, "zfs:raidz1x4"),
            (
                "bcachefs:replicas=2x2",
                "replicas=2",
                2,
                "bcachefs:replicas=2x2",
            ),
            ("f2fs:x2", "", 2, "f2fs:x2"),
        ];
        for (text, profile, devices, printed) in cases {
            let subject: Subject = text.parse().expect(text);
            let spread = subject.spread().expect(text);
            assert_eq!(
                (spread.profile.as_str(), spread.devices),
                (profile, devices)
            );
            assert_eq!(
                (subject.disks(), subject.to_string().as_str()),
                (devices, printed)
            );
            assert_eq!(printed.parse::<Subject>(), Ok(subject));
        }
        let encrypted: Subject = "btrfs:raid1x2/luks".parse().expect("each disk");
        assert_eq!(encrypted.disks(), 2);
        for option in [
            "ext4:stripe=0x10",
            "ext4:0x10",
            "jfs:errors=continuex2",
            "xfs:x",
        ] {
            let subject: Subject = option.parse().expect(option);
            assert_eq!(subject.spread(), None, "{option}");
        }
    }
}
