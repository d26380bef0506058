//! Every seed and every input that a search has found, once more.

use std::path::Path;

use fslab_fuzz::{corpus_of, seeds_of, targets};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace is above")
}

/// The stack of the command, which is that of a main thread.
const STACK_BYTES: usize = 8 << 20;

#[test]
fn no_input_that_is_kept_makes_its_target_fail() {
    let run_all = || {
        for target in targets() {
            for path in seeds_of(root(), target) {
                println!("{}", path.display());
                let input = std::fs::read(path).expect("a committed file is readable");
                (target.run)(&input);
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let running = thread.spawn(run_all).expect("a thread starts");
    assert!(running.join().is_ok(), "the last input fails");
}

#[test]
fn every_target_has_seeds_and_every_folder_of_inputs_has_a_target() {
    for target in targets() {
        assert!(!seeds_of(root(), target).is_empty(), "{}", target.name);
    }
    let kept = std::fs::read_dir(root().join("fuzz/corpus")).expect("is committed");
    for folder in kept.flatten() {
        let known = targets().iter();
        let mut known = known.filter(|target| corpus_of(root(), target) == folder.path());
        assert!(known.next().is_some(), "{}", folder.path().display());
    }
}
