//! The scores of duplicates: cells of one text, nodes under the same headers.

/// Nodes of one text, or under the same headers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Duplicates {
    nodes: u32,
    /// Tables that they stand in.
    tables: u32,
    /// The table of the last one.
    last: usize,
    /// The two highest scores.
    best: [f32; 2],
    /// The table of the node with the highest score, and the highest score in other tables.
    table: usize,
    elsewhere: f32,
}

impl Duplicates {
    const EMPTY: Self = Self {
        nodes: 0,
        tables: 0,
        last: usize::MAX,
        best: [f32::NEG_INFINITY; 2],
        table: usize::MAX,
        elsewhere: f32::NEG_INFINITY,
    };

    /// The nodes of a table stand together.
    fn push(&mut self, score: f32, table: usize) {
        self.nodes += 1;
        self.tables += u32::from(self.last != table);
        self.last = table;
        let [best, second] = self.best;
        if score > best {
            if self.table != table {
                (self.table, self.elsewhere) = (table, best);
            }
            self.best = [score, best];
        } else {
            self.best[1] = second.max(score);
            if self.table != table {
                self.elsewhere = self.elsewhere.max(score);
            }
        }
    }

    /// How many others there are, and the highest score of those.
    pub(super) fn others(&self, own: f32) -> (u32, Option<f32>) {
        let [best, second] = self.best;
        (self.nodes - 1, Some(if own == best { second } else { best }).filter(|best| best.is_finite()))
    }

    /// How many tables but one they stand in, and the highest score there.
    pub(super) fn other_tables(&self, table: usize) -> (u32, Option<f32>) {
        let best = if self.table == table { self.elsewhere } else { self.best[0] };
        (self.tables - 1, Some(best).filter(|best| best.is_finite()))
    }
}

/// The duplicates of a ranking's nodes.
#[derive(Debug)]
pub(super) struct Groups<'a> {
    /// Of each node the number of its group; 0 is none.
    numbers: &'a [u32],
    /// For each number its place in `groups`, and one more; 0 where no wanted node has it.
    places: Vec<u32>,
    groups: Vec<Duplicates>,
}

impl<'a> Groups<'a> {
    /// Without nodes as yet, for the `wanted` ones.
    pub(super) fn new(numbers: &'a [u32], wanted: &[u32]) -> Self {
        let most = numbers.iter().max().map_or(0, |most| *most as usize);
        let (mut places, mut groups) = (vec![0; most + 1], Vec::new());
        for number in wanted.iter().filter_map(|&node| numbers.get(node as usize)) {
            let place = &mut places[*number as usize];
            if *number > 0 && *place == 0 {
                groups.push(Duplicates::EMPTY);
                *place = groups.len() as u32;
            }
        }
        Self { numbers, places, groups }
    }

    fn place(&self, node: usize) -> Option<usize> {
        let place = self.places[*self.numbers.get(node)? as usize];
        (place > 0).then(|| place as usize - 1)
    }

    pub(super) fn push(&mut self, node: usize, score: f32, table: usize) {
        if let Some(place) = self.place(node) {
            self.groups[place].push(score, table);
        }
    }

    pub(super) fn get(&self, node: usize) -> Option<&Duplicates> {
        self.place(node).map(|place| &self.groups[place])
    }
}
