//! Compact SVG path data: relative steps in tenths of a pixel, and lines without imperceptible
//! points.

use std::fmt::Write;

/// A point in pixels.
pub(super) type Point = (f64, f64);

/// Largest distance in pixels between a line and a point that is left out.
const TOLERANCE: f64 = 0.35;

/// Possible enlargement across and upwards, when other subjects are hidden.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Zoom(pub(super) f64, pub(super) f64);

impl Zoom {
    /// A point after enlargement.
    fn of(self, (x, y): Point) -> Point {
        (x * self.0, y * self.1)
    }
}

/// A path under construction. Coordinates are tenths of a pixel, so that steps add up exactly.
#[derive(Default)]
pub(super) struct Outline {
    data: String,
    at: (i64, i64),
}

impl Outline {
    /// Begins a new line at a point.
    fn start(&mut self, point: Point) {
        self.at = steps_of(point);
        self.data.push('M');
        self.push(self.at.0);
        self.next(self.at.1);
    }

    /// A single straight line.
    pub(super) fn segment(&mut self, from: Point, to: Point) {
        self.start(from);
        let to = steps_of(to);
        if to.0 == self.at.0 {
            self.data.push('V');
            self.push(to.1);
        } else if to.1 == self.at.1 {
            self.data.push('H');
            self.push(to.0);
        } else {
            self.steps(&[to]);
        }
        self.at = to;
    }

    /// A connected line through points.
    pub(super) fn line(&mut self, points: &[Point]) {
        let Some((first, rest)) = points.split_first() else {
            return;
        };
        self.start(*first);
        let rest: Vec<(i64, i64)> = rest.iter().map(|point| steps_of(*point)).collect();
        self.steps(&rest);
    }

    /// A shape of relative steps around a point.
    pub(super) fn shape(&mut self, center: Point, shape: &str) {
        self.start(center);
        self.data.push_str(shape);
    }

    /// A rectangle between two opposite corners.
    pub(super) fn rectangle(&mut self, from: Point, to: Point) {
        self.start(from);
        let to = steps_of(to);
        for (letter, place) in [('H', to.0), ('V', to.1), ('H', self.at.0)] {
            self.data.push(letter);
            self.push(place);
        }
        self.data.push('z');
    }

    pub(super) fn finish(self) -> String {
        self.data
    }

    fn steps(&mut self, points: &[(i64, i64)]) {
        for (index, point) in points.iter().enumerate() {
            let (x, y) = (point.0 - self.at.0, point.1 - self.at.1);
            if index == 0 {
                self.data.push('l');
                self.push(x);
            } else {
                self.next(x);
            }
            self.next(y);
            self.at = *point;
        }
    }

    /// The next number; a minus sign needs no separator.
    fn next(&mut self, steps: i64) {
        if steps >= 0 {
            self.data.push(' ');
        }
        self.push(steps);
    }

    /// A number without superfluous zeros.
    fn push(&mut self, steps: i64) {
        let sign = if steps < 0 { "-" } else { "" };
        let (integer, tenth) = (steps.unsigned_abs() / 10, steps.unsigned_abs() % 10);
        match (integer, tenth) {
            (0, 0) => self.data.push('0'),
            (integer, 0) => write!(self.data, "{sign}{integer}").expect("writes to memory"),
            (0, tenth) => write!(self.data, "{sign}.{tenth}").expect("writes to memory"),
            (integer, tenth) => {
                write!(self.data, "{sign}{integer}.{tenth}").expect("writes to memory");
            }
        }
    }
}

fn steps_of((x, y): Point) -> (i64, i64) {
    // Drawings have some thousand pixels; a cast saturates.
    ((x * 10.0).round() as i64, (y * 10.0).round() as i64)
}

/// The points that a line needs, by their index: all but those within [`TOLERANCE`] of it after
/// enlargement (Ramer, "An iterative procedure for the polygonal approximation of plane curves",
/// 1972; Douglas and Peucker, 1973).
pub(super) fn simplified(points: &[Point], zoom: Zoom) -> Vec<usize> {
    if points.len() < 3 {
        return (0..points.len()).collect();
    }
    let shown: Vec<Point> = points.iter().map(|point| zoom.of(*point)).collect();
    let mut kept = vec![false; points.len()];
    kept[0] = true;
    kept[points.len() - 1] = true;
    let mut spans = vec![(0, points.len() - 1)];
    while let Some((from, to)) = spans.pop() {
        let between = (from + 1..to).map(|index| {
            let aside = distance(shown[index], shown[from], shown[to]);
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
    (0..points.len()).filter(|index| kept[*index]).collect()
}

/// The distance of a point from a segment.
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
        let indices = simplified(&points, Zoom(1.0, 1.0));
        assert_eq!(indices, [0, 49, 50, 51, 98]);
        assert_eq!(simplified(&points[..2], Zoom(1.0, 1.0)), [0, 1]);
        assert!(simplified(&[], Zoom(1.0, 1.0)).is_empty());
        let kept: Vec<Point> = indices.iter().map(|index| points[*index]).collect();
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
        assert_eq!(simplified(&there_and_back, Zoom(1.0, 1.0)), [0, 1, 2]);
    }

    #[test]
    fn what_may_be_enlarged_keeps_the_points_that_show_then() {
        let flat = [(0.0, 100.0), (10.0, 99.9), (20.0, 100.0)];
        assert_eq!(simplified(&flat, Zoom(1.0, 1.0)), [0, 2]);
        assert_eq!(simplified(&flat, Zoom(1.0, 30.0)), [0, 1, 2]);
    }
}
