//! Writes the sample run into a new store, and as JSON beside it: the fixture of a schema version,
//! made once, before its release. `cargo run -p fslab-store --example write_fixture -- FILE.sqlite`

use std::error::Error;
use std::path::PathBuf;

use fslab_store::Store;

#[path = "../tests/it/sample.rs"]
mod sample;

fn main() -> Result<(), Box<dyn Error>> {
    let path: PathBuf = std::env::args_os()
        .nth(1)
        .ok_or("name the file to write")?
        .into();
    if path.exists() {
        return Err("a fixture is never overwritten".into());
    }
    let run = sample::run("20261121-143205-k3f9");
    let mut store = Store::open(&path)?;
    store.begin_run(&run.header)?;
    for trial in &run.trials {
        store.add_trial(&run.header.run, trial)?;
    }
    std::fs::write(
        path.with_extension("json"),
        serde_json::to_string_pretty(&run)? + "\n",
    )?;
    Ok(())
}
