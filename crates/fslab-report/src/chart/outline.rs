//! The data of an SVG path in few bytes: steps from point to point in tenths of a pixel, and lines
//! without the points that nobody would miss.

use std::fmt::Write;

/// A point in pixels.
pub(super) type Point = (f64, f64);

/// Pixels that a line may pass a point by that is left out.
const TOLERANCE: f64 = 0.35;

/// A path that grows. Places are kept in whole tenths of a pixel, so that steps add up exactly.
#[derive(Default)]
pub(super) struct Outline {
    data: String,
    at: (i64, i64),
}

impl Outline {
    /// Begins anew at a point.
    pub(super) fn start(&mut self, point: Point) {
        self.at = tenths(point);
        self.data.push('M');
        self.data.push_str(&number(self.at.0));
        self.next(self.at.1);
    }

    /// A single straight line.
    pub(super) fn segment(&mut self, from: Point, to: Point) {
        self.start(from);
        let to = tenths(to);
        if to.0 == self.at.0 {
            write!(self.data, "V{}", number(to.1)).expect("writes to memory");
        } else if to.1 == self.at.1 {
            write!(self.data, "H{}", number(to.0)).expect("writes to memory");
        } else {
            self.steps(&[to]);
        }
        self.at = to;
    }

    /// A line through points, broken nowhere.
    pub(super) fn line(&mut self, points: &[Point]) {
        let Some((first, rest)) = points.split_first() else {
            return;
        };
        self.start(*first);
        let rest: Vec<(i64, i64)> = rest.iter().map(|point| tenths(*point)).collect();
        self.steps(&rest);
    }

    /// A shape, given as a path whose steps are all relative, around a point.
    pub(super) fn shape(&mut self, center: Point, shape: &str) {
        self.start(center);
        self.data.push_str(shape);
    }

    pub(super) fn finish(self) -> String {
        self.data
    }

    fn steps(&mut self, points: &[(i64, i64)]) {
        for (index, point) in points.iter().enumerate() {
            let (x, y) = (point.0 - self.at.0, point.1 - self.at.1);
            if index == 0 {
                self.data.push('l');
                self.data.push_str(&number(x));
            } else {
                self.next(x);
            }
            self.next(y);
            self.at = *point;
        }
    }

    /// A number after another one: its minus sign tells them apart.
    fn next(&mut self, tenths: i64) {
        if tenths >= 0 {
            self.data.push(' ');
        }
        self.data.push_str(&number(tenths));
    }
}

fn tenths((x, y): Point) -> (i64, i64) {
    // Drawings are of some thousand pixels; a cast saturates.
    ((x * 10.0).round() as i64, (y * 10.0).round() as i64)
}

/// Tenths as a number without a needless zero.
fn number(tenths: i64) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, rest) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
    match (whole, rest) {
        (0, 0) => "0".to_owned(),
        (whole, 0) => format!("{sign}{whole}"),
        (0, rest) => format!("{sign}.{rest}"),
        (whole, rest) => format!("{sign}{whole}.{rest}"),
    }
}

/// The points of a line without those that lie less than [`TOLERANCE`] beside it (Ramer, "An
/// iterative procedure for the polygonal approximation of plane curves", 1972; Douglas and Peucker,
/// 1973).
pub(super) fn simplified(points: &[Point]) -> Vec<Point> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut kept = vec![false; points.len()];
    kept[0] = true;
    kept[points.len() - 1] = true;
    let mut spans = vec![(0, points.len() - 1)];
    while let Some((from, to)) = spans.pop() {
        let between = (from + 1..to).map(|index| {
            let aside = distance(points[index], points[from], points[to]);
            (index, aside)
        });
        let farthest = between.max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((index, aside)) = farthest
            && aside > TOLERANCE
        {
            kept[index] = true;
            spans.extend([(from, index), (index, to)]);
        }
    }
    let pairs = points.iter().zip(kept);
    pairs.filter(|(_, kept)| *kept).map(|(p, _)| *p).collect()
}

/// How far a point lies from the stretch between two others.
fn distance(point: Point, from: Point, to: Point) -> f64 {
    let (along, across) = (to.0 - from.0, to.1 - from.1);
    let (x, y) = (point.0 - from.0, point.1 - from.1);
    let length = along * along + across * across;
    if length == 0.0 {
        return x.hypot(y);
    }
    let share = ((x * along + y * across) / length).clamp(0.0, 1.0);
    (x - share * along).hypot(y - share * across)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_of_steps_in_tenths_that_add_up() {
        let mut outline = Outline::default();
        outline.line(&[(1.04, -0.01), (1.54, 2.0), (0.04, 2.26), (10.04, 2.26)]);
        outline.segment((3.0, 20.0), (3.0, 1052.0));
        outline.segment((3.0, 20.0), (7.25, 20.04));
        outline.shape((5.0, -6.5), "m1 1h2z");
        assert_eq!(
            outline.finish(),
            "M1 0l.5 2-1.5 .3 10 0M3 20V1052M3 20H7.3M5-6.5m1 1h2z"
        );
    }

    #[test]
    fn a_line_keeps_its_corners_and_loses_what_lies_on_it() {
        let mut points: Vec<(f64, f64)> = (0..50).map(|x| (f64::from(x), 0.1)).collect();
        points.push((50.0, 9.0));
        points.extend((51..99).map(|x| (f64::from(x), 0.0)));
        let kept = simplified(&points);
        assert_eq!(
            kept,
            [
                (0.0, 0.1),
                (49.0, 0.1),
                (50.0, 9.0),
                (51.0, 0.0),
                (98.0, 0.0)
            ]
        );
        assert_eq!(simplified(&points[..2]), points[..2]);
        assert_eq!(simplified(&[]), []);
        for point in &points {
            let near = kept
                .windows(2)
                .map(|pair| distance(*point, pair[0], pair[1]));
            assert!(near.fold(f64::INFINITY, f64::min) <= TOLERANCE, "{point:?}");
        }
    }

    #[test]
    fn a_line_that_comes_back_to_its_beginning_is_not_lost() {
        let there_and_back = [(0.0, 0.0), (20.0, 0.0), (0.0, 0.0)];
        assert_eq!(simplified(&there_and_back), there_and_back);
    }
}
