//! The rule of every option of fio: what it becomes, why it is left out, or why it is refused.

use super::options::{FioOption, FioRule, FioTranslation};
use super::setters::{self as set, Setter};
use super::settings::FioSettings;

const fn to(
    name: &'static str,
    alias: &'static str,
    to: &'static str,
    setter: Setter,
) -> FioOption {
    FioOption {
        name,
        alias,
        rule: FioRule::Translated(FioTranslation { to, setter }),
    }
}

const fn ignored(name: &'static str, why: &'static str) -> FioOption {
    FioOption {
        name,
        alias: "",
        rule: FioRule::Ignored(why),
    }
}

const fn also(option: FioOption, alias: &'static str) -> FioOption {
    FioOption { alias, ..option }
}

const fn only(name: &'static str, values: &'static [&'static str], why: &'static str) -> FioOption {
    FioOption {
        name,
        alias: "",
        rule: FioRule::Neutral(values, why),
    }
}

const fn refused(name: &'static str, why: &'static str) -> FioOption {
    FioOption {
        name,
        alias: "",
        rule: FioRule::Refused(why),
    }
}

/// All options, by subject.
pub(super) const TABLES: &[&[FioOption]] = &[
    PATTERN, AMOUNT, FILES, ENGINE, DATA, PACE, GROUPS, MACHINE, REPORT,
];

const OFF: &[&str] = &["0", "none", "false"];

#[rustfmt::skip]
const PATTERN: &[FioOption] = &[
    to("rw", "readwrite", "direction, access", FioSettings::set_pattern),
    to("rwmixread", "", "direction = mix", set::MIX_READ),
    to("rwmixwrite", "", "direction = mix", set::MIX_WRITE),
    to("bs", "blocksize", "record", FioSettings::set_record),
    to("bsrange", "blocksize_range", "record_split", FioSettings::set_record_range),
    to("bssplit", "", "record_split", FioSettings::set_record_split),
    to("blockalign", "ba", "nothing, if it is the record", set::ALIGNMENT),
    to("norandommap", "", "access = random-uniform, not random-once", set::NO_MAP),
    to("random_distribution", "", "access, zones", FioSettings::set_distribution),
    ignored("rw_sequencer", "it matters only with rw=...:N, which is refused"),
    ignored("rwmixcycle", "fio itself ignores it"),
    ignored("softrandommap", "it matters only if memory is short"),
    ignored("random_generator", "fslab has its own generator"),
    also(ignored("randrepeat", SEEDS), "allrandrepeat"),
    ignored("randseed", SEEDS),
    also(only("bs_unaligned", OFF, ALIGNED), "blocksize_unaligned"),
    only("bs_is_seq_rand", OFF, "the record would depend on the order of accesses"),
    only("percentage_random", &["100"], "accesses are all in order or all random"),
    only("percentage_sequential", OFF, "accesses are all in order or all random"),
    refused("random_sequence_stride", "fslab has no fixed sequence of records"),
    only("sprandom", OFF, "fslab does not precondition a disk"),
    ignored("spr_op", "it matters only with sprandom"),
    ignored("spr_num_regions", "it matters only with sprandom"),
    ignored("spr_cs", "it matters only with sprandom"),
];

const ALIGNED: &str = "records begin at multiples of their length";
const SEEDS: &str = "the seed is fslab's: --seed";

#[rustfmt::skip]
const AMOUNT: &[FioOption] = &[
    to("size", "", "file_size, amount", set::SIZE),
    to("io_size", "io_limit", "amount", set::IO_SIZE),
    to("number_ios", "", "amount = operations", set::OPERATIONS),
    to("loops", "", "amount", set::LOOPS),
    to("offset", "fileoffset", "offset", set::OFFSET),
    to("offset_increment", "", "offset of each copy", set::OFFSET_INCREMENT),
    to("runtime", "timeout", "time_limit_ns, amount = time", set::RUNTIME),
    to("time_based", "", "amount = time", set::TIME_BASED),
    to("ramp_time", "", "ramp_up_ns", set::RAMP),
    refused("ramp_size", "fslab's ramp-up has a time"),
    only("offset_align", OFF, "fslab's offset is as given"),
    also(only("fill_device", OFF, "fslab's job has a size; use size=..."), "fill_fs"),
    only("num_range", &["1"], TRIM),
    ignored("max_latency", "fslab reports latencies and fails no job for one"),
    also(ignored("steadystate", STEADY), "ss"),
    also(ignored("steadystate_duration", STEADY), "ss_dur"),
    also(ignored("steadystate_ramp_time", STEADY), "ss_ramp"),
    also(ignored("steadystate_check_interval", STEADY), "ss_interval"),
];

const STEADY: &str = "a phase takes its complete runtime";
const TRIM: &str = "fslab's jobs read and write, and discard nothing";

#[rustfmt::skip]
const FILES: &[FioOption] = &[
    to("filename", "", "file, in the measured file system", FioSettings::set_filename),
    to("filename_format", "", "nothing, if copies have files", FioSettings::set_filename_format),
    to("filesize", "", "file_size", set::FILE_SIZE),
    to("nrfiles", "nr_files", "segment; with filecreate and the like, files", set::FILES),
    to("file_service_type", "", "segment", FioSettings::set_file_order),
    to("fallocate", "", "preparation", FioSettings::set_fallocate),
    to("overwrite", "", "a phase before it that writes the file", set::OVERWRITE),
    to("create_on_open", "", "preparation = none", set::CREATE_ON_OPEN),
    ignored("directory", "the files are in the measured file system"),
    ignored("openfiles", "all files of a job are open"),
    ignored("unique_filename", "fslab names the files"),
    ignored("create_serialize", "files are made before a phase is timed"),
    ignored("create_fsync", "files are made before a phase is timed"),
    ignored("unlink", "each trial has a new file system"),
    only("unlink_each_loop", OFF, "a job keeps its files"),
    only("file_append", OFF, "fslab's writes begin at the offset"),
    only("allow_file_create", &["1"], "the measured file system is empty before"),
    only("create_only", OFF, "a job does I/O"),
    only("filetype", &["file"], "fslab measures files"),
    only("lockfile", OFF, "fslab locks no files"),
    refused("opendir", "fslab reads no directory that a job file names"),
    only("write_hint", &["0", "none", "not-set"], "fslab gives no hint of a lifetime"),
];

#[rustfmt::skip]
const ENGINE: &[FioOption] = &[
    to("ioengine", "", "engine, positioned", FioSettings::set_engine),
    to("iodepth", "", "uring.queue_depth", set::DEPTH),
    to("iodepth_batch", "iodepth_batch_submit", "uring.batch", set::BATCH),
    to("iodepth_batch_complete_min", "iodepth_batch_complete", "uring.batch", set::BATCH),
    to("direct", "", "direct", set::DIRECT),
    to("buffered", "", "direct = false", set::BUFFERED),
    to("hipri", "", "uring.completion_poll", set::POLLS),
    to("fixedbufs", "", "uring.registered_buffers", set::FIXED_BUFFERS),
    to("registerfiles", "", "uring.registered_file", set::REGISTER_FILES),
    to("sqthread_poll", "", "uring.submission_poll_ms", set::SUBMISSION_POLL),
    to("fadvise_hint", "", "advice", FioSettings::set_advice),
    to("invalidate", "", "cache = cold, for reads through the page cache", set::INVALIDATE),
    to("pre_read", "", "cache = warm", set::PRE_READ),
    ignored("iodepth_batch_complete_max", "fslab takes all operations that have completed"),
    ignored("io_submit_mode", "fslab's open loop counts latency from the intended start"),
    ignored("sqthread_poll_cpu", PLACEMENT),
    ignored("nonvectored", "fslab's io_uring reads and writes without vectors"),
    ignored("libaio_vectored", "fslab's reads and writes have one vector"),
    ignored("userspace_reap", "fslab has io_uring in the place of libaio"),
    refused("iodepth_low", "fslab refills its queue with each batch"),
    only("serialize_overlap", OFF, "fslab's queue does not wait for overlaps"),
    only("hipri_percentage", &["100"], "fslab polls for all or for none"),
    only("uncached", OFF, "fslab has no uncached buffered I/O"),
    only("nowait", OFF, "fslab waits for its I/O"),
    only("force_async", OFF, "fslab leaves this to the kernel"),
    only("atomic", OFF, "fslab has no atomic writes"),
    refused("cmdprio", PRIORITY),
    refused("cmdprio_class", PRIORITY),
    refused("cmdprio_hint", PRIORITY),
    refused("cmdprio_percentage", PRIORITY),
    refused("cmdprio_bssplit", PRIORITY),
    refused("prio", PRIORITY),
    refused("prioclass", PRIORITY),
    refused("priohint", PRIORITY),
    refused("cmd_type", "fslab sends no commands to a device"),
    refused("md_per_io_size", "fslab sends no commands to a device"),
    refused("pi_act", "fslab sends no commands to a device"),
    refused("pi_chk", "fslab sends no commands to a device"),
    refused("apptag", "fslab sends no commands to a device"),
    refused("apptag_mask", "fslab sends no commands to a device"),
];

const PRIORITY: &str = "fslab gives no operation another priority";
const PLACEMENT: &str = "it names processors of the machine that the file was written for";

#[rustfmt::skip]
const DATA: &[FioOption] = &[
    to("fsync", "", "sync.every = fsync", set::FSYNC),
    to("fdatasync", "", "sync.every = fdatasync", set::FDATASYNC),
    to("end_fsync", "", "sync.closing = fsync", set::END_FSYNC),
    to("fsync_on_close", "", "sync.closing = fsync", set::END_FSYNC),
    to("sync", "", "open_sync", FioSettings::set_open_sync),
    to("zero_buffers", "", "content.compressible_percent = 100", set::ZERO),
    to("buffer_compress_percentage", "", "content.compressible_percent", set::COMPRESS),
    to("dedupe_percentage", "", "content.duplicate_percent", set::DEDUPE),
    to("verify", "", "verify, in a phase after the writes", FioSettings::set_verify),
    to("do_verify", "", "whether that phase runs", set::DO_VERIFY),
    ignored("refill_buffers", "fslab's data never repeats"),
    ignored("scramble_buffers", "fslab's data never repeats"),
    ignored("buffer_compress_chunk", "fslab's blocks of 4 KiB compress alike"),
    ignored("dedupe_global", DUPLICATES),
    ignored("dedupe_mode", DUPLICATES),
    ignored("dedupe_working_set_percentage", DUPLICATES),
    ignored("verify_interval", VERIFICATION),
    ignored("verify_offset", VERIFICATION),
    ignored("verify_pattern", VERIFICATION),
    ignored("verify_pattern_interval", VERIFICATION),
    ignored("verify_fatal", VERIFICATION),
    ignored("verify_dump", VERIFICATION),
    ignored("verify_async", VERIFICATION),
    ignored("verify_async_cpus", VERIFICATION),
    ignored("verify_backlog_batch", VERIFICATION),
    ignored("verify_header_seed", VERIFICATION),
    ignored("verify_write_sequence", VERIFICATION),
    ignored("verifysort", VERIFICATION),
    ignored("verifysort_nr", VERIFICATION),
    ignored("experimental_verify", VERIFICATION),
    only("verify_only", OFF, "there is nothing to verify before the writes"),
    only("verify_backlog", OFF, "fslab verifies after all writes"),
    only("verify_state_load", OFF, "fslab reads no state of an earlier run"),
    only("verify_state_save", OFF, "fslab writes no state for a later run"),
    only("end_syncfs", OFF, "fslab's data jobs sync their files"),
    only("write_barrier", OFF, "fslab's barrier is fsync; use fsync=N"),
    refused("sync_file_range", "fslab's call waits for the pages, and fio's has other modes"),
    refused("buffer_pattern", "fslab writes its own data, which can have a compressible part: \
                               buffer_compress_percentage"),
    only("trim_percentage", OFF, TRIM),
    only("trim_verify_zero", OFF, TRIM),
    only("trim_backlog", OFF, TRIM),
    only("trim_backlog_batch", OFF, TRIM),
];

const DUPLICATES: &str = "fslab's duplicates are all of one block";
const VERIFICATION: &str = "fslab compares all bytes with what it wrote";

#[rustfmt::skip]
const PACE: &[FioOption] = &[
    to("rate", "", "pace", FioSettings::set_rate),
    to("rate_iops", "", "pace", FioSettings::set_rate_iops),
    to("rate_process", "", "pace = fixed or poisson", FioSettings::set_rate_process),
    to("thinktime", "", "pace = pause", set::THINK),
    to("thinktime_blocks", "", "pace = pause", set::THINK_BLOCKS),
    to("startdelay", "", "start_delay_ns", FioSettings::set_start_delay),
    also(ignored("rate_min", RATE_MIN), "ratemin"),
    ignored("rate_iops_min", RATE_MIN),
    also(ignored("rate_cycle", "fslab's rate counts from the start"), "ratecycle"),
    only("rate_ignore_thinktime", OFF, "fslab has a rate or a pause"),
    only("thinktime_blocks_type", &["complete"], "fslab pauses after completed operations"),
    only("thinktime_iotime", OFF, "fslab pauses after a number of operations"),
    only("thinktime_spin", OFF, "fslab's pauses sleep"),
    only("thinkcycles", OFF, "fslab's pauses sleep"),
    refused("latency_target", LATENCY),
    refused("latency_window", LATENCY),
    refused("latency_percentile", LATENCY),
    refused("latency_run", LATENCY),
    refused("flow", FLOW),
    refused("flow_id", FLOW),
    ignored("flow_sleep", "it matters only with flow"),
    ignored("flow_watermark", "fio itself ignores it"),
];

const RATE_MIN: &str = "fslab reports the rate and fails no job for it";
const LATENCY: &str = "fslab searches for no queue depth";
const FLOW: &str = "fslab's jobs do not wait for each other's progress";

#[rustfmt::skip]
const GROUPS: &[FioOption] = &[
    to("numjobs", "", "threads, or jobs of one file", set::COPIES),
    to("stonewall", "wait_for_previous", "a new phase", set::STONEWALL),
    to("wait_for", "", "a new phase", set::WAIT_FOR),
    to("thread", "threads", "workers = threads", set::THREAD),
    to("exitall", "", "nothing, if a phase has one job", set::EXITALL),
    to("kb_base", "", "how sizes are read", FioSettings::set_base),
    ignored("name", "sections name the phases"),
    ignored("exit_what", "it matters only with exitall"),
    ignored("exitall_on_error", "an error ends the phase"),
    only("continue_on_error", OFF, "an error ends the phase"),
    only("ignore_error", OFF, "an error ends the phase"),
    refused("profile", "fslab has no profiles of fio"),
];

#[rustfmt::skip]
const MACHINE: &[FioOption] = &[
    refused("exec_prerun", COMMANDS),
    refused("exec_postrun", COMMANDS),
    refused("ioscheduler", "it changes a setting of the machine"),
    refused("cgroup", "it changes the machine's control groups"),
    refused("cgroup_weight", "it changes the machine's control groups"),
    refused("cgroup_nodelete", "it changes the machine's control groups"),
    only("uid", OFF, "fslab changes no user"),
    only("gid", OFF, "fslab changes no group"),
    only("nice", OFF, "fslab changes no priority of processes"),
    only("lockmem", OFF, "fslab locks no memory for a job file"),
    only("zonemode", OFF, ZONED),
    refused("zonesize", ZONED),
    refused("zonecapacity", ZONED),
    refused("zonerange", ZONED),
    refused("zoneskip", ZONED),
    refused("read_beyond_wp", ZONED),
    refused("max_open_zones", ZONED),
    refused("job_max_open_zones", ZONED),
    refused("ignore_zone_limits", ZONED),
    refused("zone_reset_threshold", ZONED),
    refused("zone_reset_frequency", ZONED),
    refused("recover_zbd_write_error", ZONED),
    refused("write_zone_remainder", ZONED),
    only("fdp", OFF, PLACED),
    also(only("dataplacement", OFF, PLACED), "data_placement"),
    also(refused("plid_select", PLACED), "fdp_pli_select"),
    also(refused("plids", PLACED), "fdp_pli"),
    refused("dp_scheme", PLACED),
    refused("read_iolog", TRACES),
    refused("read_iolog_chunked", TRACES),
    refused("replay_no_stall", TRACES),
    refused("replay_redirect", TRACES),
    refused("replay_scale", TRACES),
    refused("replay_align", TRACES),
    refused("replay_time_scale", TRACES),
    refused("replay_skip", TRACES),
    refused("merge_blktrace_file", TRACES),
    refused("merge_blktrace_scalars", TRACES),
    refused("merge_blktrace_iters", TRACES),
    ignored("cpumask", PLACEMENT),
    ignored("cpus_allowed", PLACEMENT),
    ignored("cpus_allowed_policy", PLACEMENT),
    ignored("numa_cpu_nodes", PLACEMENT),
    ignored("numa_mem_policy", PLACEMENT),
    ignored("gpu_dev_id", PLACEMENT),
    ignored("allow_mounted_write", "fslab writes only to the measured file system"),
    also(ignored("mem", BUFFERS), "iomem"),
    also(ignored("iomem_align", BUFFERS), "mem_align"),
    ignored("hugepage-size", BUFFERS),
    ignored("comm", "it names processes"),
];

const COMMANDS: &str = "it would run a command, and a job file starts no program; put the command \
                        into a study, with --allow-commands";
const ZONED: &str = "fslab's files have no zones";
const PLACED: &str = "fslab gives no hint of data placement";
const TRACES: &str = "fslab replays its own traces: fslab trace";
const BUFFERS: &str = "fslab's buffers are aligned to pages";

#[rustfmt::skip]
const REPORT: &[FioOption] = &[
    ignored("description", REPORTED),
    ignored("group_reporting", REPORTED),
    ignored("new_group", REPORTED),
    ignored("stats", REPORTED),
    ignored("per_job_logs", LOGS),
    ignored("write_bw_log", LOGS),
    ignored("write_lat_log", LOGS),
    ignored("write_iops_log", LOGS),
    ignored("write_hist_log", LOGS),
    ignored("write_iolog", LOGS),
    ignored("log_entries", LOGS),
    ignored("log_avg_msec", LOGS),
    ignored("log_hist_msec", LOGS),
    ignored("log_hist_coarseness", LOGS),
    also(ignored("log_window_value", LOGS), "log_max_value"),
    ignored("log_offset", LOGS),
    ignored("log_prio", LOGS),
    ignored("log_issue_time", LOGS),
    ignored("log_compression", LOGS),
    ignored("log_compression_cpus", LOGS),
    ignored("log_store_compressed", LOGS),
    also(ignored("log_alternate_epoch", LOGS), "log_unix_epoch"),
    ignored("log_alternate_epoch_clock_id", LOGS),
    ignored("block_error_percentiles", REPORTED),
    ignored("bwavgtime", REPORTED),
    ignored("iopsavgtime", REPORTED),
    ignored("clat_percentiles", REPORTED),
    ignored("lat_percentiles", REPORTED),
    ignored("slat_percentiles", REPORTED),
    ignored("percentile_list", REPORTED),
    ignored("significant_figures", REPORTED),
    ignored("disk_util", REPORTED),
    ignored("unified_rw_reporting", REPORTED),
    ignored("unit_base", REPORTED),
    ignored("error_dump", REPORTED),
    ignored("gtod_reduce", CLOCK),
    ignored("disable_lat", CLOCK),
    ignored("disable_clat", CLOCK),
    ignored("disable_slat", CLOCK),
    also(ignored("disable_bw_measurement", CLOCK), "disable_bw"),
    ignored("gtod_cpu", CLOCK),
    ignored("clocksource", CLOCK),
    ignored("job_start_clock_id", CLOCK),
];

const REPORTED: &str = "it changes only fio's report";
const LOGS: &str = "it changes only fio's logs";
const CLOCK: &str = "fslab times every operation with its own clock";
