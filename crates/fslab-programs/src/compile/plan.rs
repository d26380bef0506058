//! The generated C program as numbers, from which its output is computed.

use fslab_stats::CounterRandom;

/// Random stream of the program.
const PURPOSE: u64 = 0x00c0_4d11;
/// Entries of each unit's table, a power of two.
pub(super) const TABLE: usize = 32;
/// Units of one directory.
pub(super) const UNITS_EACH: usize = 25;

/// Size of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    /// Translation units, without the one that has `main`.
    pub(super) units: usize,
    pub(super) headers: usize,
    /// Functions of each unit.
    pub(super) functions: usize,
}

/// The program: headers include earlier headers, units include headers, `main` calls all units.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) headers: Vec<Header>,
    pub(super) units: Vec<Unit>,
}

/// A header: a mixing function and declarations.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// Earlier headers that it includes, in ascending order.
    pub(super) includes: Vec<usize>,
    pub(super) salt: u32,
    /// Odd.
    pub(super) factor: u32,
    pub(super) shift: u32,
    /// Lines of declarations.
    pub(super) declarations: usize,
}

/// A translation unit.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Headers that it includes, in ascending order.
    pub(super) includes: Vec<usize>,
    pub(super) table: [u32; TABLE],
    pub(super) functions: Vec<Function>,
}

/// A function of a unit: a loop over a few rounds.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) rounds: u32,
    /// Odd.
    pub(super) factor: u32,
    pub(super) shift: u32,
    /// The header's function is called in rounds in which `x & mask` is not 0.
    pub(super) mask: u32,
    pub(super) addend: u32,
    /// The header whose function it calls.
    pub(super) header: usize,
}

impl Plan {
    /// The program of `seed`.
    pub(super) fn draw(seed: u64, size: Size) -> Self {
        let mut draw = CounterRandom::counter(seed, PURPOSE);
        let headers = (0..size.headers)
            .map(|number| Header {
                includes: choose(&mut draw, number, 3),
                salt: word(&mut draw),
                factor: word(&mut draw) | 1,
                shift: shift(&mut draw),
                declarations: below(&mut draw, 40),
            })
            .collect();
        let units = (0..size.units)
            .map(|_| draw_unit(&mut draw, size))
            .collect();
        Self { headers, units }
    }

    /// The value that the program prints.
    pub(super) fn value(&self) -> u32 {
        self.units.iter().fold(1, |value, unit| {
            let functions = unit.functions.iter();
            functions.fold(value, |x, function| self.call(unit, function, x))
        })
    }

    /// The headers that a unit includes, directly or indirectly, in ascending order.
    pub(super) fn headers_of(&self, unit: &Unit) -> Vec<usize> {
        let mut is_in = vec![false; self.headers.len()];
        let mut open = unit.includes.clone();
        while let Some(number) = open.pop() {
            if !std::mem::replace(&mut is_in[number], true) {
                open.extend(&self.headers[number].includes);
            }
        }
        (0..is_in.len()).filter(|number| is_in[*number]).collect()
    }

    fn call(&self, unit: &Unit, function: &Function, mut x: u32) -> u32 {
        let header = &self.headers[function.header];
        for _ in 0..function.rounds {
            let entry = unit.table[(x >> (32 - TABLE.ilog2())) as usize];
            x = x.wrapping_mul(function.factor).wrapping_add(entry);
            x ^= x >> function.shift;
            if x & function.mask != 0 {
                x = (x ^ header.salt).wrapping_mul(header.factor);
                x ^= x >> header.shift;
            } else {
                x = x.wrapping_add(function.addend);
            }
        }
        x
    }
}

fn draw_unit(draw: &mut CounterRandom, size: Size) -> Unit {
    let includes = choose(draw, size.headers, 8);
    let mut table = [0; TABLE];
    table.fill_with(|| word(draw));
    let functions = (0..size.functions)
        .map(|_| Function {
            rounds: 1 + word(draw) % 7,
            factor: word(draw) | 1,
            shift: shift(draw),
            mask: 1 << (word(draw) % 32),
            addend: word(draw),
            header: includes[below(draw, includes.len())],
        })
        .collect();
    Unit {
        includes,
        table,
        functions,
    }
}

/// Up to `most` different numbers below `bound` in ascending order; at least one unless `bound` is
/// 0.
fn choose(draw: &mut CounterRandom, bound: usize, most: usize) -> Vec<usize> {
    if bound == 0 {
        return Vec::new();
    }
    let count = 1 + below(draw, most);
    let mut chosen: Vec<_> = (0..count).map(|_| below(draw, bound)).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

fn word(draw: &mut CounterRandom) -> u32 {
    u32::try_from(draw.below(1 << 32)).expect("below 2^32")
}

fn shift(draw: &mut CounterRandom) -> u32 {
    9 + word(draw) % 14
}

fn below(draw: &mut CounterRandom, bound: usize) -> usize {
    usize::try_from(draw.below(bound as u64)).expect("below a usize")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size {
        units: 20,
        headers: 10,
        functions: 4,
    };

    #[test]
    fn the_program_and_its_value_follow_from_the_seed() {
        let value = |seed| Plan::draw(seed, SIZE).value();
        assert_eq!(value(1), value(1));
        assert_ne!(value(1), value(2));
    }

    #[test]
    fn headers_include_only_earlier_ones_and_units_include_them_transitively() {
        let plan = Plan::draw(7, SIZE);
        for (number, header) in plan.headers.iter().enumerate() {
            assert!(header.includes.iter().all(|earlier| *earlier < number));
        }
        for unit in &plan.units {
            let all = plan.headers_of(unit);
            assert!(unit.includes.iter().all(|direct| all.contains(direct)));
            assert!(all.contains(&0), "every chain ends at the first header");
        }
    }
}
