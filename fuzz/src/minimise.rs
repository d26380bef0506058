//! An input that fails, made as short as it can be cheaply: parts are left out as long as it fails.

/// The shortest input that was found for which `fails` still holds, asked at most `budget` times.
pub(crate) fn minimise(
    input: &[u8],
    budget: usize,
    mut fails: impl FnMut(&[u8]) -> bool,
) -> Vec<u8> {
    let mut shortest = input.to_vec();
    let mut asked = 0;
    let mut length = shortest.len().div_ceil(2);
    while length > 0 {
        let mut at = 0;
        while at < shortest.len() {
            if asked == budget {
                return shortest;
            }
            let end = (at + length).min(shortest.len());
            let mut shorter = shortest.clone();
            shorter.drain(at..end);
            asked += 1;
            if fails(&shorter) {
                shortest = shorter;
            } else {
                at = end;
            }
        }
        length /= 2;
    }
    shortest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let input = b"one two boom three four";
        let fails = |input: &[u8]| input.windows(4).any(|part| part == b"boom");
        assert_eq!(minimise(input, 1000, fails), b"boom");
        assert!(minimise(input, 3, fails).len() < input.len());
    }
}
