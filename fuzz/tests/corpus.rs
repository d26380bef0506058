//! Every seed and every input that a search has found, once more.

use std::path::Path;

use fslab_fuzz::{corpus_of, seeds_of, targets, work};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace is above")
}

#[test]
fn no_input_that_is_kept_makes_its_target_fail() {
    for target in targets() {
        for (path, input) in seeds_of(root(), target) {
            assert_eq!(work(target, &input), Ok(()), "{}", path.display());
        }
    }
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
