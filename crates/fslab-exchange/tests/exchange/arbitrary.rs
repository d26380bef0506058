//! Arbitrary input gives a run with finite figures, or an error that names its cause.

use fslab_exchange::{Format, import, ior_json, mdtest_text};
use fslab_model::phase_metrics;
use proptest::prelude::*;

use crate::fixture::{content, labels, names, source};

/// Checks that `content` is read completely or refused.
fn ensure_sense(content: &[u8], format: Option<Format>) {
    let sources = [source("any", content)];
    match import(&sources, format, &labels()) {
        Err(error) => assert!(!error.causes.concat().is_empty()),
        Ok(imported) => {
            for run in &imported.runs {
                for exported in [ior_json(run), mdtest_text(run)].into_iter().flatten() {
                    assert!(!exported.0.is_empty());
                }
            }
            let trials = imported.runs.iter().flat_map(|run| &run.trials);
            for metric in trials
                .flat_map(|trial| &trial.phases)
                .flat_map(phase_metrics)
            {
                assert!(
                    metric.value.is_finite() && metric.value >= 0.0,
                    "{metric:?}"
                );
            }
        }
    }
}

/// A real tool's output with some bytes replaced and its end cut off.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let names = names();
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8);
    (
        0..names.len(),
        damage,
        any::<prop::sample::Index>(),
        any::<bool>(),
    )
        .prop_map(move |(name, damage, end, cut)| {
            let mut content = content(&names[name]);
            for (place, byte) in damage {
                let place = place.index(content.len());
                // Printable characters find more errors than bytes that are refused at once.
                content[place] = 0x20 + byte % 0x5f;
            }
            if cut {
                content.truncate(end.index(content.len()));
            }
            content
        })
}

/// Words of the formats, in any order.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "1.96",
        "1.98",
        ",",
        ",,,,,,,,,",
        "+++++",
        "300M",
        "\n",
        " ",
        "\"",
        "\"Writer report\"",
        "\"4\"",
        "\"64\"",
        "Excel output is below:",
        "kB  reclen    write",
        "mdtest-4.0.0 was launched",
        "SUMMARY rate: (of 1 iterations)",
        "Operation  Max  Min  Mean  Std Dev",
        "File stat",
        "fslab: {\"subject\":\"a\"}\n",
        "IOR-4.0.0: MPI Coordinated Test of Parallel I/O\n",
        "TestID              : 0\n",
        "tasks               : 2\n",
        "xfersize            : 65536 bytes\n",
        "Results: \n",
        "access bw(MiB/s) total(s) iter\n",
        "write 9 1 0\n",
        "read - inf 0\n",
        "remove 1 0\n",
        "Summary of all tests:\n",
        "Finished : x\n",
        "\"tests\"",
        "\"Results\"",
        "\"access\"",
        "\"bwMiB\"",
        "\"TestID\"",
        "[RESULT] find 2.5 kIOPS : time 1 seconds\n",
        "[SCORE ] Bandwidth 1 GiB/s : IOPS 1 kiops : TOTAL 1\n",
        "[ior-easy-write]\n",
        "[SCORE]\n",
        "score = 1\n",
        "hash = 1\n",
        "procs = 2\n",
        "{",
        "}",
        "[",
        "]",
        ":",
        "\"fio version\"",
        "\"jobs\"",
        "\"jobname\"",
        "\"read\"",
        "\"io_bytes\"",
        "\"runtime\"",
        "\"bins\"",
        "\"clat_ns\"",
        "1",
        "-1",
        "9e300",
        "18446744073709551615",
        "subject,phase,repeat,metric,value",
        "throughput",
        "a,b,0,",
        "Children see throughput for 2 readers = 5",
        "Throughput test with 2 processes",
        "\u{fc}",
    ]);
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(2000)
    })]

    #[test]
    fn no_bytes_make_a_reader_panic(
        content in prop::collection::vec(any::<u8>(), 0..400),
        format in prop::option::of(prop::sample::select(Format::ALL.to_vec())),
    ) {
        ensure_sense(&content, format);
    }

    #[test]
    fn no_words_of_the_formats_make_a_reader_panic(
        content in words(),
        format in prop::option::of(prop::sample::select(Format::ALL.to_vec())),
    ) {
        ensure_sense(content.as_bytes(), format);
    }

    #[test]
    fn no_damage_to_an_output_makes_a_reader_panic_or_a_figure_senseless(content in damaged()) {
        ensure_sense(&content, None);
    }
}
