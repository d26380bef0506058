//! Compiles the library that is loaded into a guest kernel's process on some processors.

use std::path::Path;

fn main() {
    let source = Path::new("preload/xstate.c");
    println!("cargo::rerun-if-changed={}", source.display());
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it");
    let compiler = cc::Build::new()
        .opt_level(2)
        .warnings(true)
        // Also where fslab itself is linked statically: it is loaded into another program.
        .static_flag(false)
        .get_compiler();
    let mut command = compiler.to_command();
    command.args(["-shared", "-fPIC", "-s", "-o"]);
    command.arg(Path::new(&out).join("xstate.so")).arg(source);
    let status = command.status().expect("the C compiler starts");
    assert!(status.success(), "{command:?} ended with {status}");
}
