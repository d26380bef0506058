//! Which of several windows are open while time goes on.

use fslab_model::Window;

/// Windows in the order in which they begin. They may touch, overlap and be empty.
pub(super) struct Schedule {
    windows: Vec<Window>,
    /// Those that have not begun, the next one last.
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

    /// The windows that share a part of the time after `from_ns` and up to `to_ns`; of those that
    /// ended before it, `ended` is told. Times never go back from call to call.
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
