//! LUKS: encryption of a block device by dm-crypt.

use fslab_model::LayerKind;

use super::device_mapper::mapped;
use crate::layer::{BlockLayer, LayerPlace};
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{CommandLine, KernelConfig, OutputStream, Tool, VersionSource};

const CRYPTSETUP: Tool = Tool {
    program: "cryptsetup",
    package: "cryptsetup-bin",
    version: VersionSource::Asked {
        argument: "--version",
        stream: OutputStream::Output,
    },
};

const OPTIONS: &[KeyRule] = &[
    key("cipher", OptionValue::Word),
    key("key-size", OptionValue::Number),
    key(
        "sector",
        OptionValue::OneOf(&["512", "1024", "2048", "4096"]),
    ),
    key("integrity", OptionValue::Word),
    key("discards", OptionValue::Nothing),
    key("no-workqueues", OptionValue::Nothing),
];

/// The passphrase: 32 bytes of zero, which no file has to keep. The key of the volume is random.
const PASSPHRASE: [&str; 4] = ["--key-file", "/dev/zero", "--keyfile-size", "32"];

pub(crate) static LUKS: BlockLayer = BlockLayer {
    kind: LayerKind::Luks,
    title: "LUKS",
    summary: "Encryption of a block device by dm-crypt, with the format LUKS2, which keeps the key \
              under a passphrase.",
    config: KernelConfig(&[&["CONFIG_DM_CRYPT", "CONFIG_CRYPTO_AES", "CONFIG_CRYPTO_XTS"]]),
    modules: &[
        "dm-crypt",
        "aes_generic",
        "aesni_intel",
        "xts",
        "cbc",
        "essiv",
        "sha256_generic",
        "algif_skcipher",
    ],
    tools: &[CRYPTSETUP],
    options: OPTIONS,
    make,
    close,
    device: mapped,
    deviations: &[
        "the passphrase is stretched by 1,000 rounds of PBKDF2 instead of Argon2id, whose rounds \
         cryptsetup derives from the speed of the machine: this affects the time to open, and no \
         read or write",
    ],
};

fn make(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    let mut format = vec!["luksFormat", "--batch-mode", "--type", "luks2"];
    format.extend(PASSPHRASE);
    format.extend(["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"]);
    let of_format = [
        ("cipher", "--cipher"),
        ("key-size", "--key-size"),
        ("sector", "--sector-size"),
        ("integrity", "--integrity"),
    ];
    for (key, option) in of_format {
        format.extend(place.value(key).into_iter().flat_map(|it| [option, it]));
    }
    format.push(place.first());
    let mut open = vec!["open", "--type", "luks2"];
    open.extend(PASSPHRASE);
    if place.has("discards") {
        open.push("--allow-discards");
    }
    if place.has("no-workqueues") {
        open.extend(["--perf-no_read_workqueue", "--perf-no_write_workqueue"]);
    }
    open.extend([place.first(), place.name]);
    vec![CRYPTSETUP.line(format), CRYPTSETUP.line(open)]
}

fn close(place: &LayerPlace<'_>) -> Vec<CommandLine> {
    vec![CRYPTSETUP.line(["close", place.name])]
}
