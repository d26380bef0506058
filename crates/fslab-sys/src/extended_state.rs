//! The size of a processor's extended state: registers of vectors and tiles, as XSAVE stores them.

/// CPUID leaf of the extended state.
#[cfg(target_arch = "x86_64")]
const LEAF: u32 = 0xd;

/// Bytes of the state that the system has enabled; 0 if the processor does not tell.
#[cfg(target_arch = "x86_64")]
pub fn extended_state_bytes() -> usize {
    let (leaf_max, _) = std::arch::x86_64::__get_cpuid_max(0);
    match leaf_max >= LEAF {
        true => std::arch::x86_64::__cpuid_count(LEAF, 0).ebx as usize,
        false => 0,
    }
}

/// Bytes of the state that the system has enabled; 0 on other processors.
#[cfg(not(target_arch = "x86_64"))]
pub fn extended_state_bytes() -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_with_xsave_has_the_legacy_area_and_a_header() {
        if cfg!(target_arch = "x86_64") && extended_state_bytes() > 0 {
            assert!(extended_state_bytes() >= 512 + 64);
        }
    }
}
