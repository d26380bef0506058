//! SMB 3: the server ksmbd and the client cifs, both of the kernel. The program ksmbd.mountd gives
//! the server its configuration, and stays, because it answers each login and each request for a
//! share.

use fslab_model::{Capabilities, CaseRule, Network, Protocol};

use crate::network::{COLD, NetworkFact, NetworkFileSystem, NetworkServer, Served, ServerProgram};
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{CommandLine, KernelConfig, OutputStream, Tool, VersionSource};

const MOUNTD: Tool = Tool {
    program: "ksmbd.mountd",
    package: "ksmbd-tools",
    version: VersionSource::Asked {
        argument: "--version",
        stream: OutputStream::Output,
    },
};

/// Where ksmbd.mountd looks for them: a lab's /etc/ksmbd is a link to this directory.
const CONFIGURATION: &str = "/run/ksmbd/ksmbd.conf";
const USERS: &str = "/run/ksmbd/ksmbdpwd.db";
/// The kernel lowers it to its limit for all files (fs.file-max). By default it is 10,000, and the
/// client keeps files open for a second: where the processor is free, a phase creates more in it.
const OPEN_FILES: u32 = 1_000_000;
/// The user root with the password of the client's options, in the form of ksmbdpwd.db(5): the MD4
/// of its UTF-16, in Base64. It protects nothing: the server is in a guest without a network.
const USER: &str = "root:GjnuRY5aJkECoEsYfJBW0Q==\n";

const CLIENT_KEYS: &[KeyRule] = &[
    key(
        "vers",
        OptionValue::OneOf(&["2.1", "3.0", "3.0.2", "3.1.1"]),
    ),
    key("cache", OptionValue::OneOf(&["strict", "none", "loose"])),
    key("rsize", OptionValue::Number),
    key("wsize", OptionValue::Number),
    key("rasize", OptionValue::Number),
    key("actimeo", OptionValue::Number),
    key("acregmax", OptionValue::Number),
    key("acdirmax", OptionValue::Number),
    key("closetimeo", OptionValue::Number),
    key("max_cached_dirs", OptionValue::Number),
];

/// The shares' words, each with the server's keys for leases and oplocks.
const CACHING: [(&str, &str, &str); 3] = [
    ("leases", "yes", "yes"),
    ("oplocks", "no", "yes"),
    ("nooplocks", "no", "no"),
];

fn serve(served: &Served<'_>) -> NetworkServer {
    let asked = CACHING.iter().find(|(word, ..)| served.has(word));
    let (_, leases, oplocks) = asked.unwrap_or(&CACHING[0]);
    let configuration = format!(
        "[global]\n\
         \tmax open files = {OPEN_FILES}\n\
         \tsmb2 leases = {leases}\n\
         \n\
         [fslab]\n\
         \tpath = {}\n\
         \tread only = no\n\
         \toplocks = {oplocks}\n",
        served.folder
    );
    NetworkServer::Program(Box::new(ServerProgram {
        line: CommandLine {
            tool: MOUNTD,
            arguments: vec!["--nodetach".to_owned()],
        },
        files: vec![(CONFIGURATION, configuration), (USERS, USER.to_owned())],
        port: 445,
        kernel_stop: Some(("/sys/class/ksmbd-control/kill_server", "hard")),
    }))
}

/// Without the POSIX extensions a file has the attributes of DOS: the client makes up owner and
/// mode.
fn limit(capabilities: &mut Capabilities, network: &Network) {
    let has = |words: &[&str]| network.client.iter().any(|it| words.contains(&it.as_str()));
    if has(&["posix", "unix", "linux"]) {
        return;
    }
    capabilities.permissions = false;
    capabilities.symlinks &= has(&["mfsymlinks"]);
    if capabilities.case == CaseRule::Sensitive {
        capabilities.case = CaseRule::Preserving;
    }
}

pub(crate) static SMB: NetworkFileSystem = NetworkFileSystem {
    protocol: Protocol::Smb,
    title: "SMB",
    history: "IBM wrote it in 1983 for files between PCs; Microsoft's version 2 of 2006 has fewer \
              and larger requests, and version 3 of 2012 encryption and handles that survive a \
              lost connection. Linux has a client since 2003 (cifs) and a server in the kernel \
              since 2021 (ksmbd, Linux 5.15).",
    config: KernelConfig(&[&["CONFIG_CIFS", "CONFIG_SMB_SERVER"]]),
    tools: &[MOUNTD],
    server: "ksmbd of the guest's kernel, with the program ksmbd.mountd for configuration and \
             login",
    serve,
    stop: &["ksmbd.control", "--shutdown"],
    fs_type: "smb3",
    source: "//127.0.0.1/fslab",
    client: &[
        "vers=3.1.1",
        "ip=127.0.0.1",
        "user=root",
        "pass=fslab",
        "cache=strict",
        "hard",
    ],
    client_keys: CLIENT_KEYS,
    export: &[],
    export_words: &["leases", "oplocks", "nooplocks"],
    not_found: Some(
        "the kernel's ksmbd may refuse the answers of an older ksmbd.mountd: Debian's kernel \
         6.1.192 needs ksmbd-tools 3.5.2 or newer, and `fslab lab build --network --new-root` takes \
         that of this machine",
    ),
    limit,
    facts: &[
        NetworkFact {
            title: "close-to-open",
            text: "close(2) writes a file's dirty data to the server and does not wait for the \
                   disk. A lease lets the client cache reads, writes and the open file until \
                   the server calls it back, and keep it open 1 s after close(2) \
                   (client=closetimeo): a phase that creates more files in that time than the \
                   server may have open (fs.file-max, a tenth of its memory in KiB) fails with \
                   EEXIST, unless client=closetimeo=0 is set. export=oplocks has the older \
                   oplocks instead, export=nooplocks neither: then nothing is cached, as with \
                   client=cache=none.",
        },
        NetworkFact {
            title: "attribute cache",
            text: "The client answers stat(2) from its cache for 1 s (acregmax, acdirmax). \
                   client=actimeo=SECONDS sets both.",
        },
        NetworkFact {
            title: "sync",
            text: "fsync(2) of a file is a request to the server (FLUSH), which is answered when \
                   its file system has synced the file; client=nostrictsync leaves it out. \
                   fsync(2) of a directory does nothing, and the server answers changes of names \
                   before they are on the disk.",
        },
        NetworkFact {
            title: "names and modes",
            text: "A name that is not found is looked for in another case: the server reads the \
                   directory for it. Each new file gets an extended attribute with its DOS \
                   attributes. There is no owner, no mode and no symbolic link, unless \
                   client=posix asks for the POSIX extensions, or client=mfsymlinks stores links \
                   as files.",
        },
        COLD,
        NetworkFact {
            title: "left out",
            text: "SMB 1 and 2.0. Encryption and signing happen only as far as the protocol \
                   demands: client=seal encrypts, client=sign signs. Kerberos: the login is \
                   NTLM's.",
        },
    ],
};
