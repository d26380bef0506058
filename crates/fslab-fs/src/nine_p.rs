//! 9P: the kernel's client v9fs, and the program diod as the server, since no kernel has one.

use fslab_model::Protocol;

use crate::network::{NetworkFact, NetworkFileSystem, NetworkServer, Served, ServerProgram};
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{CommandLine, KernelConfig, Tool, VersionSource};

const DIOD: Tool = Tool {
    program: "diod",
    package: "diod",
    version: VersionSource::Package,
};

/// The port of 9P.
const PORT: u16 = 564;

const CLIENT_KEYS: &[KeyRule] = &[
    key(
        "cache",
        OptionValue::OneOf(&["none", "readahead", "mmap", "loose"]),
    ),
    key("msize", OptionValue::Number),
    key("access", OptionValue::OneOf(&["user", "any", "client"])),
    key("locktimeout", OptionValue::Number),
];

fn serve(served: &Served<'_>) -> NetworkServer {
    let listen = format!("127.0.0.1:{PORT}");
    // In the foreground, without its own configuration file, logins and tables of users.
    let arguments = [
        "--foreground",
        "--config-file",
        "/dev/null",
        "--no-auth",
        "--no-userdb",
        "--nwthreads",
        "16",
        "--logdest",
        "stderr",
        "--listen",
        &listen,
        "--export",
        served.folder,
    ];
    NetworkServer::Program(Box::new(ServerProgram {
        line: CommandLine {
            tool: DIOD,
            arguments: arguments.map(str::to_owned).into(),
        },
        files: Vec::new(),
        port: PORT,
        kernel_stop: None,
    }))
}

pub(crate) static NINE_P: NetworkFileSystem = NetworkFileSystem {
    protocol: Protocol::NineP,
    title: "9P",
    history: "Bell Labs made it for Plan 9 in the 1980s, where every resource is a file. Linux has \
              a client since 2005; its variant 9P2000.L of 2010 has the calls of Linux, and shares \
              directories of a host with virtual machines.",
    config: KernelConfig(&[&["CONFIG_NET_9P", "CONFIG_NET_9P_FD", "CONFIG_9P_FS"]]),
    tools: &[DIOD],
    server: "the program diod with 16 threads",
    serve,
    stop: &["pkill", "diod"],
    fs_type: "9p",
    source: "127.0.0.1",
    client: &[
        "trans=tcp",
        "port=564",
        "version=9p2000.L",
        "uname=root",
        "aname=SERVED",
        "access=user",
        "msize=65536",
        "cache=none",
    ],
    client_keys: CLIENT_KEYS,
    export: &[],
    export_words: &[],
    not_found: None,
    limit: |_, _| {},
    facts: &[
        NetworkFact {
            title: "server",
            text: "No kernel serves 9P: the server is a program, and each request costs its \
                   switches and copies, as with FUSE. On a machine whose processor is free \
                   that is no time.",
        },
        NetworkFact {
            title: "close-to-open",
            text: "With cache=none, the default, every read and write is a request, and nothing \
                   is kept at the client; a writable shared mapping is refused. \
                   client=cache=loose caches data and attributes without asking the server \
                   again, mmap only what mappings need, readahead only reads.",
        },
        NetworkFact {
            title: "attribute cache",
            text: "There is none with cache=none: each stat(2) and each step of a path is a \
                   request. With cache=loose attributes are kept without a limit of time.",
        },
        NetworkFact {
            title: "sync",
            text: "fsync(2) of a file or a directory is a request (Tfsync), answered when the \
                   server has synced it. sync(2) and syncfs(2) end at the client: what was created, \
                   renamed or removed is on the disk only when the server's file system has \
                   written it by itself.",
        },
        NetworkFact {
            title: "cold",
            text: "The client is unmounted, the server ended, the local file system unmounted, \
                   then all caches of the kernel are dropped, which both use.",
        },
        NetworkFact {
            title: "left out",
            text: "Requests larger than 64 KiB, the most that diod takes; logins.",
        },
    ],
};
