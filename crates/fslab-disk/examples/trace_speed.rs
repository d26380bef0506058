//! Measures the analysis of a trace: `trace_speed [RECORDS]` writes a trace of that many records
//! (ten million by default) into a temporary file and analyses it.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

use fslab_disk::trace::{Flags, Op, Reader, Record, Writer, analyse};
use fslab_model::Window;

const CAPACITY_SECTORS: u64 = 1 << 31;
const WINDOWS: u64 = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let records: u64 = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 10_000_000,
    };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace");
    let mut writer = Writer::new(BufWriter::new(File::create(&path)?))?;
    let mut state = 1_u64;
    for number in 0..records {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let done_ns = 1_000_000 + number * 50_000;
        let service_ns = 40_000 + (state >> 40) % 40_000;
        writer.add(&Record {
            submit_ns: done_ns - service_ns - (state >> 50) % 900_000,
            start_ns: done_ns - service_ns,
            done_ns,
            sector: (state >> 20) % (CAPACITY_SECTORS - 64),
            sectors: 8,
            op: if number % 3 == 0 { Op::Read } else { Op::Write },
            depth: 32,
            flags: Flags(((state >> 60) as u32) << 16),
            part_ns: [1_000, 20_000, 10_000, 5_000, 0],
            ..Record::default()
        })?;
    }
    drop(writer.finish()?);
    let length_ns = records * 50_000 / WINDOWS;
    let windows: Vec<Window> = (0..WINDOWS)
        .map(|number| Window {
            begin_ns: 1_000_000 + number * length_ns,
            end_ns: 1_000_000 + (number + 1) * length_ns,
        })
        .collect();
    let began = Instant::now();
    let insight = analyse(Reader::open(&path)?, &windows, CAPACITY_SECTORS)?;
    let seconds = began.elapsed().as_secs_f64();
    let rate = records as f64 / seconds / 1e6;
    println!(
        "{} records in {seconds:.2} s: {rate:.1} million a second",
        insight.records
    );
    let bytes = serde_json::to_vec(&insight.windows[0])?.len();
    println!("one window as JSON: {bytes} bytes");
    Ok(())
}
