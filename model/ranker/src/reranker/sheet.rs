//! The scores of a table's nodes by place.

/// A row or a column of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) share: f64,
    pub(super) nodes: u32,
    /// The three highest scores, the highest first.
    best: [f32; 3],
    pub(super) header: Option<f32>,
}

impl Line {
    pub(super) const EMPTY: Self = Self { share: 0.0, nodes: 0, best: [f32::NEG_INFINITY; 3], header: None };

    pub(super) fn push(&mut self, score: f32, share: f64) {
        self.share += share;
        self.nodes += 1;
        let at = self.best.iter().position(|best| score > *best);
        if let Some(at) = at {
            self.best[at..].rotate_right(1);
            self.best[at] = score;
        }
    }

    /// The highest score.
    pub(super) fn best(&self) -> Option<f32> {
        Some(self.best[0]).filter(|best| best.is_finite())
    }

    /// The two highest scores beside one that is part of it.
    pub(super) fn others(&self, own: f32) -> [Option<f32>; 2] {
        let at = self.best.iter().position(|best| *best == own).unwrap_or(self.best.len() - 1);
        let mut others = self.best.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, best)| *best);
        [(); 2].map(|()| others.next().filter(|best| best.is_finite()))
    }
}

/// A table's scores by place.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) share: f64,
    /// How many sentences stand before it.
    pub(super) sentences: u32,
    pub(super) rows: Vec<Line>,
    pub(super) columns: Vec<Line>,
    /// `[rows, columns]`: the score of the node whose top left place it is.
    pub(super) grid: Vec<Option<f32>>,
}

impl Sheet {
    pub(super) fn at(&self, row: Option<usize>, column: Option<usize>) -> Option<f32> {
        let (row, column) = (row?, column.filter(|column| *column < self.columns.len())?);
        self.grid.get(row * self.columns.len() + column).copied().flatten()
    }
}
