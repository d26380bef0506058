//! Writes sample reports of invented runs: `sample_report FOLDER`.

#[path = "../tests/report/big_story.rs"]
mod big_story;
#[path = "../tests/report/disk_story.rs"]
mod disk_story;
#[path = "../tests/report/fixture.rs"]
mod fixture;
#[path = "../tests/report/sweep_story.rs"]
mod sweep_story;

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use fslab_compare::Analysis;
use fslab_report::{Cells, exhibits, html, sentences, tables};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let many = [
        "ext4",
        "xfs",
        "btrfs",
        "f2fs",
        "ext2",
        "ext3",
        "ext4:mount=data=journal",
        "ext4:noatime",
        "xfs:mkfs=-m reflink=0",
        "btrfs:mount=compress=zstd:3",
    ];
    let runs = [
        ("usual.html", vec![fixture::usual()]),
        ("simulated.html", vec![disk_story::simulated()]),
        (
            "single.html",
            vec![fixture::run_of(&["ext4", "xfs", "btrfs"], 1)],
        ),
        (
            "swept.html",
            vec![sweep_story::swept(&sweep_story::SUBJECTS, (12, 3), 3)],
        ),
        (
            "iozone.html",
            vec![sweep_story::swept(&sweep_story::SUBJECTS, (16, 15), 1)],
        ),
        ("bonnie.html", vec![sweep_story::bonnie()]),
        ("home-usb.html", vec![sweep_story::home_usb()]),
        ("alone.html", vec![fixture::run_of(&["xfs"], 3)]),
        ("many.html", vec![fixture::run_of(&many, 5)]),
        ("big.html", vec![big_story::big()]),
        ("ratios-2.html", vec![big_story::of(2, 16, 5)]),
        ("ratios-6.html", vec![big_story::of(6, 16, 3)]),
        ("ratios-20.html", vec![big_story::of(20, 16, 5)]),
        ("ratios-single.html", vec![big_story::of(6, 16, 1)]),
        (
            "two.html",
            vec![fixture::usual(), fixture::run_of(&["xfs", "ext4"], 3)],
        ),
    ];
    for (name, runs) in &runs {
        fs::write(folder.join(name), html(runs)?)?;
    }
    for (_, runs) in &runs {
        for run in runs {
            for exhibit in exhibits(&Analysis::of(run), None) {
                let name = format!("{}-{}", run.header.plan.study, exhibit.id);
                if let Some(svg) = exhibit.svg() {
                    fs::write(folder.join(format!("{name}.svg")), svg)?;
                }
                fs::write(
                    folder.join(format!("{name}.csv")),
                    exhibit.csv(Cells::Guarded)?,
                )?;
            }
        }
    }
    let usual = fixture::usual();
    let analysis = Analysis::of(&usual);
    for sentence in sentences(&analysis) {
        println!("{sentence}");
    }
    println!("\n{}", tables::overview(&analysis).to_markdown());
    Ok(())
}
