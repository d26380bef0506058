//! Places for names beside points: inside an area, off the points, off each other, and, where there
//! is a choice, near their point and off the line.

use super::numbers::text_width;
use super::outline::Point;
use super::svg::Anchor;

/// Half the width of a mark, and the height of a name.
const MARK: f64 = 5.0;
const HEIGHT: f64 = 12.0;
/// The width of a name relative to that of text in general, of which it has the narrower letters.
const TEXT_SHARE: f64 = 0.85;
/// Distances of a name from its point, in the order of preference.
const DISTANCES: [f64; 6] = [8.0, 17.0, 28.0, 42.0, 58.0, 76.0];
/// A name farther away than this has a leader.
const LEADER_LEAST: f64 = 12.0;
/// Directions to the nearest edge of a name: right, left, and between them and upright.
const DIRECTIONS: [Point; 8] = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.7, -0.7),
    (0.7, 0.7),
    (-0.7, -0.7),
    (-0.7, 0.7),
    (0.0, -1.0),
    (0.0, 1.0),
];
/// What a name costs that covers another one, a point, or the line; and a step of distance.
const COSTS: (f64, f64, f64, f64) = (100.0, 10.0, 2.0, 1.0);

/// A rectangle by two opposite corners, the first upper left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) from: Point,
    pub(super) to: Point,
}

/// The names placed so far, and what they keep off.
pub(super) struct Placing {
    pub(super) area: Area,
    pub(super) marks: Vec<Point>,
    pub(super) line: [Point; 2],
    pub(super) taken: Vec<Area>,
}

/// The place of a name.
pub(super) struct Place {
    /// The place of its text, at the end towards the point.
    pub(super) text: Point,
    pub(super) anchor: Anchor,
    /// The end of the line from the point to a name far from it.
    pub(super) leader: Option<Point>,
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        self.from.0 < other.to.0
            && other.from.0 < self.to.0
            && self.from.1 < other.to.1
            && other.from.1 < self.to.1
    }

    fn around(point: Point, half: f64) -> Self {
        Self {
            from: (point.0 - half, point.1 - half),
            to: (point.0 + half, point.1 + half),
        }
    }

    /// True if a straight line passes, to a pixel.
    fn is_crossed(&self, [from, to]: [Point; 2]) -> bool {
        let steps = (to.0 - from.0).hypot(to.1 - from.1).ceil().max(1.0) as u32;
        (0..=steps).any(|step| {
            let share = f64::from(step) / f64::from(steps);
            let at = (
                from.0 + share * (to.0 - from.0),
                from.1 + share * (to.1 - from.1),
            );
            self.meets(&Self::around(at, 0.5))
        })
    }
}

impl Placing {
    /// Places the name of the point at `at`.
    pub(super) fn place(&mut self, at: Point, name: &str) -> Place {
        let width = text_width(name) * TEXT_SHARE;
        let mut best: Option<(f64, Area)> = None;
        for (step, distance) in (0_u32..).zip(DISTANCES) {
            for (turn, direction) in (0_u32..).zip(DIRECTIONS) {
                let area = self.within(area_of(at, direction, (distance, width)));
                let cost = self.cost(at, &area)
                    + f64::from(step) * COSTS.3
                    + f64::from(turn) * COSTS.3 / 100.0;
                if best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, area));
                }
            }
        }
        let (_, area) = best.expect("there are directions");
        self.taken.push(area);
        let (x, anchor) = if at.0 <= area.from.0 {
            (area.from.0, Anchor::Start)
        } else if at.0 >= area.to.0 {
            (area.to.0, Anchor::End)
        } else {
            (f64::midpoint(area.from.0, area.to.0), Anchor::Middle)
        };
        Place {
            text: (x, area.to.1 - 2.0),
            anchor,
            leader: (away(at, &area) > LEADER_LEAST).then(|| nearest(at, &area)),
        }
    }

    /// The area moved into the bounds.
    fn within(&self, area: Area) -> Area {
        let shift = |from: f64, to: f64, low: f64, high: f64| {
            if from < low {
                low - from
            } else {
                (high - to).min(0.0)
            }
        };
        let (low, high) = (self.area.from, self.area.to);
        let x = shift(area.from.0, area.to.0, low.0, high.0);
        let y = shift(area.from.1, area.to.1, low.1, high.1);
        Area {
            from: (area.from.0 + x, area.from.1 + y),
            to: (area.to.0 + x, area.to.1 + y),
        }
    }

    fn cost(&self, at: Point, area: &Area) -> f64 {
        let names = self.taken.iter().filter(|taken| area.meets(taken)).count();
        let marks = self.marks.iter();
        let marks = marks.filter(|mark| area.meets(&Area::around(**mark, MARK)));
        let line = f64::from(u8::from(area.is_crossed(self.line)));
        // A leader through another name is as bad as a name on a point.
        let leader = [at, nearest(at, area)];
        let through = self.taken.iter().filter(|taken| taken.is_crossed(leader));
        names as f64 * COSTS.0 + (marks.count() + through.count()) as f64 * COSTS.1 + line * COSTS.2
    }
}

/// The rectangle of a name whose nearest edge is `distance` away.
fn area_of(at: Point, direction: Point, (distance, width): (f64, f64)) -> Area {
    let edge = (at.0 + direction.0 * distance, at.1 + direction.1 * distance);
    let left = if direction.0 > 0.1 {
        edge.0
    } else if direction.0 < -0.1 {
        edge.0 - width
    } else {
        edge.0 - width / 2.0
    };
    let top = if direction.1 > 0.1 {
        edge.1
    } else if direction.1 < -0.1 {
        edge.1 - HEIGHT
    } else {
        edge.1 - HEIGHT / 2.0
    };
    Area {
        from: (left, top),
        to: (left + width, top + HEIGHT),
    }
}

/// The distance of a point from an area.
fn away(at: Point, area: &Area) -> f64 {
    let edge = nearest(at, area);
    (edge.0 - at.0).hypot(edge.1 - at.1)
}

/// The point of an area nearest to a point.
fn nearest(at: Point, area: &Area) -> Point {
    (
        at.0.clamp(area.from.0, area.to.0),
        at.1.clamp(area.from.1, area.to.1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placing(marks: &[Point]) -> Placing {
        Placing {
            area: Area {
                from: (0.0, 0.0),
                to: (200.0, 200.0),
            },
            marks: marks.to_vec(),
            line: [(0.0, 199.0), (1.0, 199.0)],
            taken: Vec::new(),
        }
    }

    #[test]
    fn a_lone_name_is_on_the_right_of_its_point_without_a_leader() {
        let at = (50.0, 100.0);
        let found = placing(&[at]).place(at, "ext4");
        assert_eq!((found.text, found.leader), ((58.0, 104.0), None));
    }

    #[test]
    fn names_of_points_at_one_place_cover_neither_each_other_nor_a_point() {
        let at = (100.0, 100.0);
        let marks = [at, (103.0, 101.0), (98.0, 103.0), (130.0, 100.0)];
        let mut placing = placing(&marks);
        for name in ["reiserfs-3.5", "reiserfs-3.6", "hfs+", "hfsx"] {
            placing.place(at, name);
        }
        let taken = &placing.taken;
        for (index, area) in taken.iter().enumerate() {
            assert!(!taken[..index].iter().any(|other| area.meets(other)));
            for mark in marks {
                assert!(!area.meets(&Area::around(mark, MARK)), "{area:?} {mark:?}");
            }
        }
    }

    #[test]
    fn a_name_at_the_edge_stays_inside() {
        for at in [(1.0, 1.0), (199.0, 1.0), (199.0, 199.0), (1.0, 199.0)] {
            let mut placing = placing(&[at]);
            placing.place(at, "reiserfs-3.6");
            let Area { from, to } = placing.taken[0];
            assert!(from.0 >= 0.0 && from.1 >= 0.0 && to.0 <= 200.0 && to.1 <= 200.0);
        }
    }

    #[test]
    fn a_name_far_from_its_point_has_a_leader_to_its_edge() {
        let at = (100.0, 100.0);
        // Points all around, so that nothing near is free.
        let around = (0..16).map(|step| {
            let angle = f64::from(step) * std::f64::consts::TAU / 16.0;
            (100.0 + 14.0 * angle.cos(), 100.0 + 14.0 * angle.sin())
        });
        let mut placing = placing(&around.collect::<Vec<_>>());
        let found = placing.place(at, "ext4");
        let end = found.leader.expect("a leader");
        assert_eq!(nearest(at, &placing.taken[0]), end);
    }
}
