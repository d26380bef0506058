//! The virtual time of a snapshot.
//!
//! The emulator's main loop, which sees a stopped processor as an idle one, may move the time to
//! the next timer, or may have noticed first that the machine is stopped. Timers do not run before
//! the processor does, so nothing else differs. The guest leaves in RBX the time at which it
//! stopped the machine.

use std::io;

use fslab_model::CountedMachine;

/// What `info registers` of the monitor prints before the value.
const REGISTER: &str = "RBX=";
/// The name of the state of the clock, after its length. QEMU, `vmstate_icount_timers_state`: a
/// version in 4 bytes, the nanoseconds that were skipped, the instructions; big endian.
const CLOCK: &[u8] = b"\x0ctimer/icount";
const VERSION_BYTES: usize = 4;
/// More than the longest interval of the kernel's tick.
const MOVED_MAX_NS: i64 = 1_000_000_000;

/// The time at which the guest has stopped the machine, from its registers.
pub(super) fn stopped_at(registers: &str) -> io::Result<i64> {
    let value = registers.split_once(REGISTER).map(|(_, rest)| rest);
    let digits = value.and_then(|rest| rest.get(..16));
    let number = digits.and_then(|digits| i64::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| unknown("the registers have no time"))
}

/// Sets the time in the state of the devices of `machine` to `at_ns`.
pub(super) fn set_time(devices: &mut [u8], machine: &CountedMachine, at_ns: i64) -> io::Result<()> {
    let found = devices.windows(CLOCK.len()).position(|name| name == CLOCK);
    let at = found.ok_or_else(|| unknown("the clock is missing"))? + CLOCK.len() + VERSION_BYTES;
    let number = |at: usize| {
        let bytes = devices.get(at..at + 8)?.try_into().ok()?;
        Some(i64::from_be_bytes(bytes))
    };
    let numbers = number(at).zip(number(at + 8));
    let (skipped, instructions) = numbers.ok_or_else(|| unknown("the clock ends early"))?;
    let of_start = at_ns - (instructions << machine.shift());
    let moved = skipped - of_start;
    if !(0..=MOVED_MAX_NS).contains(&moved) {
        return Err(unknown(&format!("its clock was moved by {moved} ns")));
    }
    devices[at..at + 8].copy_from_slice(&of_start.to_be_bytes());
    Ok(())
}

fn unknown(what: &str) -> io::Error {
    let text = format!("cannot interpret the state of this emulator: {what}");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> CountedMachine {
        CountedMachine {
            name: "a machine".to_owned(),
            instructions_per_s: 500_000_000,
        }
    }

    fn state(skipped: i64, instructions: i64) -> Vec<u8> {
        let mut state = b"QEVM other devices \x05".to_vec();
        state.extend(CLOCK);
        state.extend(1_u32.to_be_bytes());
        state.extend(skipped.to_be_bytes());
        state.extend(instructions.to_be_bytes());
        state.extend(b"more");
        state
    }

    #[test]
    fn the_time_is_when_the_guest_stopped_the_machine_whether_the_clock_moved_or_not() {
        // 2 ns an instruction.
        let at = 2 * 1000 + 70;
        for moved in [0, 4_000_000] {
            let mut devices = state(70 + moved, 1000);
            set_time(&mut devices, &machine(), at).expect("understood");
            assert_eq!(devices, state(70, 1000));
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let refused = |mut devices: Vec<u8>, at: i64| {
            set_time(&mut devices, &machine(), at)
                .expect_err("refused")
                .to_string()
        };
        assert!(refused(b"nothing".to_vec(), 1).contains("missing"));
        assert!(refused(state(0, 0)[..40].to_vec(), 1).contains("ends early"));
        assert!(refused(state(0, 1000), 5000).contains("moved by -3000 ns"));
        assert!(stopped_at("RAX=0000000000000001").is_err());
        let registers = "RAX=0000000000000001 RBX=00000000196c51ee RCX=0\r\n";
        assert_eq!(stopped_at(registers).expect("read"), 426_529_262);
    }
}
