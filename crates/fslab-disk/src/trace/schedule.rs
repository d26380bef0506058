//! Finds the windows that are open as time advances.

use fslab_model::Window;

/// Windows in the order of their beginnings. They may be adjacent, overlap and be empty.
pub(super) struct Schedule {
    windows: Vec<Window>,
    /// Windows that have not begun, the next one last.
    coming: Vec<usize>,
    open: Vec<usize>,
}

impl Schedule {
    pub(super) fn new(windows: &[Window]) -> Self {
        let mut coming: Vec<usize> = (0..windows.len()).collect();
        coming.sort_by_key(|index| std::cmp::Reverse((windows[*index].begin_ns, *index)));
        Self {
            windows: windows.to_vec(),
            coming,
            open: Vec::new(),
        }
    }

    /// The windows that overlap the time after `from_ns` and up to `to_ns`; calls `ended` for open
    /// ones that ended before. Times must not decrease from call to call.
    pub(super) fn during(
        &mut self,
        from_ns: u64,
        to_ns: u64,
        mut ended: impl FnMut(usize),
    ) -> impl Iterator<Item = (usize, Window)> + '_ {
        while let Some(next) = self.coming.last().copied()
            && self.windows[next].begin_ns < to_ns
        {
            self.coming.pop();
            self.open.push(next);
        }
        let windows = &self.windows;
        self.open.retain(|index| {
            let open = windows[*index].end_ns > from_ns;
            if !open {
                ended(*index);
            }
            open
        });
        self.open.iter().map(|index| (*index, windows[*index]))
    }

    pub(super) fn window(&self, index: usize) -> Window {
        self.windows[index]
    }
}
