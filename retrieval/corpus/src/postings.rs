//! Where a term stands: table after table, what is added to the last one's number, a bit for each field that has the term,
//! and how often each of these has it; all of variable length, seven bits a byte. A long list begins with where its blocks
//! are, so that a table is found in it without what comes before.

use crate::fields::Field;

/// Postings of a block.
const BLOCK: usize = 64;
/// Tables from which a list has blocks.
const LONG: u32 = 128;
/// Bytes of a block's entry.
const ENTRY: usize = 16;

/// As many postings as are read in the time in which a table is looked up in a list.
pub(crate) const LOOKUP: u64 = 24;

/// A term in one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub table: u32,
    /// Occurrences in each field.
    pub counts: [u32; Field::COUNT],
}

/// Postings as bytes, written by rising table.
#[derive(Debug, Clone, Default)]
pub(crate) struct PostingList {
    pub bytes: Vec<u8>,
    pub tables: u32,
    /// The next table's number is written less this.
    next: u32,
}

impl PostingList {
    pub fn push(&mut self, posting: &Posting) {
        push_number(&mut self.bytes, posting.table - self.next);
        self.next = posting.table + 1;
        self.tables += 1;
        let fields = posting.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let mask = fields.clone().fold(0_u8, |mask, (field, _)| mask | 1 << field);
        self.bytes.push(mask);
        fields.for_each(|(_, &count)| push_number(&mut self.bytes, count));
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.tables, self.next) = (0, 0);
    }

    /// What is written before the postings of a long list: of each block the number from which it goes on, the most that a
    /// posting of it brings, and where it begins. `brings` says what an occurrence count in a field of a table does.
    pub fn blocks(&self, brings: impl Fn(u32, usize, u32) -> f32) -> Vec<u8> {
        let mut entries = Vec::with_capacity(blocks_of(self.tables) * ENTRY);
        let mut postings = Postings::new(&self.bytes);
        for _ in 0..blocks_of(self.tables) {
            let (next, offset) = (postings.next, self.bytes.len() - postings.bytes.len());
            let mut most = 0.0_f32;
            for _ in 0..BLOCK {
                let mut brought = 0.0;
                postings.next_with(|table, field, count| brought += brings(table, field, count));
                most = most.max(brought);
            }
            entries.extend(next.to_le_bytes());
            entries.extend(most.to_le_bytes());
            entries.extend((offset as u64).to_le_bytes());
        }
        entries
    }
}

/// How many blocks a list has.
fn blocks_of(tables: u32) -> usize {
    if tables < LONG { 0 } else { (tables as usize).div_ceil(BLOCK) }
}

fn push_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A list as a segment holds it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TermList<'a> {
    entries: &'a [[u8; ENTRY]],
    bytes: &'a [u8],
}

impl<'a> TermList<'a> {
    /// Of so many tables, as a segment has it; nothing where it is too short for its blocks.
    pub fn new(bytes: &'a [u8], tables: u32) -> Option<Self> {
        let (entries, bytes) = bytes.split_at_checked(blocks_of(tables) * ENTRY)?;
        Some(Self { entries: entries.as_chunks().0, bytes })
    }

    pub fn postings(&self) -> Postings<'a> {
        Postings::new(self.bytes)
    }

    /// Goes through it to some tables.
    pub fn seeker(&self) -> Seeker<'a> {
        Seeker { list: *self, block: 0, postings: self.postings() }
    }

    /// The most that a posting brings; infinity for a list without blocks.
    pub fn most(&self) -> f32 {
        let all = self.entries.iter().map(|entry| Entry::of(entry).most);
        all.reduce(f32::max).unwrap_or(f32::INFINITY)
    }
}

struct Entry {
    next: u32,
    most: f32,
    offset: u64,
}

impl Entry {
    fn of(bytes: &[u8; ENTRY]) -> Self {
        let [a, b, c, d, e, f, g, h, offset @ ..] = *bytes;
        let (next, most) = (u32::from_le_bytes([a, b, c, d]), f32::from_le_bytes([e, f, g, h]));
        Self { next, most, offset: u64::from_le_bytes(offset) }
    }
}

/// Finds tables, which rise, in a list.
#[derive(Debug, Clone)]
pub(crate) struct Seeker<'a> {
    list: TermList<'a>,
    /// Where `postings` are.
    block: usize,
    postings: Postings<'a>,
}

impl Seeker<'_> {
    /// The block that has a table, if any has, from where it is.
    fn block_of(&self, table: u32) -> usize {
        let later = self.list.entries.get(self.block + 1..).unwrap_or_default();
        self.block + later.partition_point(|entry| Entry::of(entry).next <= table)
    }

    /// The most that a posting of a table brings; infinity in a list without blocks.
    pub fn most_at(&self, table: u32) -> f32 {
        self.list.entries.get(self.block_of(table)).map_or(f32::INFINITY, |entry| Entry::of(entry).most)
    }

    /// Calls `each` with the fields of a table that have the term, by number, and how often; whether it has it.
    pub fn at(&mut self, table: u32, each: impl FnMut(usize, u32)) -> bool {
        let block = self.block_of(table);
        if block > self.block {
            self.block = block;
            let Some(entry) = self.list.entries.get(block).map(Entry::of) else { return false };
            let bytes = self.list.bytes.get(entry.offset as usize..).unwrap_or_default();
            self.postings = Postings { bytes, next: entry.next };
        }
        self.postings.find(table, each).is_some()
    }
}

/// Reads postings back; it ends where the bytes do, or where they are none.
#[derive(Debug, Clone)]
pub(crate) struct Postings<'a> {
    bytes: &'a [u8],
    next: u32,
}

impl<'a> Postings<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0 }
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    #[inline]
    fn number(&mut self) -> Option<u32> {
        // Most are of one byte.
        if let [first @ ..0x80, rest @ ..] = self.bytes {
            self.bytes = rest;
            return Some(u32::from(*first));
        }
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

impl Postings<'_> {
    /// The next table, and `each` of its fields that have the term, by number, with how often; quicker than the counts of
    /// all fields where most tables have a term in one.
    #[inline]
    pub fn next_with(&mut self, mut each: impl FnMut(u32, usize, u32)) -> Option<u32> {
        let table = self.next.checked_add(self.number()?)?;
        self.next = table.checked_add(1)?;
        self.counts(|field, count| each(table, field, count))?;
        Some(table)
    }

    /// What follows a table's number.
    #[inline]
    fn counts(&mut self, mut each: impl FnMut(usize, u32)) -> Option<()> {
        let mut mask = self.byte()?;
        while mask != 0 {
            let field = mask.trailing_zeros() as usize;
            let count = self.number()?;
            if field < Field::COUNT {
                each(field, count);
            }
            mask &= mask - 1;
        }
        Some(())
    }

    /// Goes on to a table, or to the first one after it; `each` of its fields that have the term, if it has.
    fn find(&mut self, wanted: u32, each: impl FnMut(usize, u32)) -> Option<()> {
        loop {
            let before = self.clone();
            let table = self.next.checked_add(self.number()?)?;
            if table > wanted {
                *self = before;
                return None;
            }
            self.next = table.checked_add(1)?;
            if table == wanted {
                return self.counts(each);
            }
            self.counts(|_, _| ())?;
        }
    }
}

impl Iterator for Postings<'_> {
    type Item = Posting;

    fn next(&mut self) -> Option<Posting> {
        let mut counts = [0; Field::COUNT];
        let table = self.next_with(|_, field, count| counts[field] = count)?;
        Some(Posting { table, counts })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn postings_come_back(
            steps in proptest::collection::vec((1..500_u32, proptest::array::uniform6(0..300_u32)), 0..40)
        ) {
            let mut list = PostingList::default();
            let mut at = 0;
            let mut all = Vec::new();
            for (step, counts) in steps {
                at += step;
                all.push(Posting { table: at, counts });
                list.push(&all[all.len() - 1]);
            }
            prop_assert_eq!(Postings::new(&list.bytes).collect::<Vec<_>>(), all);
        }

        #[test]
        fn any_bytes_end(bytes: Vec<u8>) {
            prop_assert!(Postings::new(&bytes).count() <= bytes.len());
        }

        /// In lists with blocks and without: what a walk through all of it finds.
        #[test]
        fn tables_are_found(
            steps in proptest::collection::vec((1..300_u32, proptest::array::uniform6(0..3_u32)), 0..400),
            mut wanted in proptest::collection::vec(0..60_000_u32, 0..60),
        ) {
            let mut list = PostingList::default();
            let mut at = 0;
            for (step, counts) in steps {
                at += step;
                list.push(&Posting { table: at, counts });
            }
            let brings = |_, field: usize, count: u32| field as f32 + count as f32;
            let mut bytes = list.blocks(brings);
            prop_assert_eq!(bytes.is_empty(), list.tables < LONG);
            bytes.extend(&list.bytes);
            let found = TermList::new(&bytes, list.tables).unwrap();
            let all: Vec<Posting> = found.postings().collect();
            prop_assert_eq!(&all, &Postings::new(&list.bytes).collect::<Vec<_>>());
            wanted.extend(all.iter().step_by(3).map(|posting| posting.table));
            wanted.sort_unstable();
            wanted.dedup();
            let (mut seeker, bounds) = (found.seeker(), found.seeker());
            for table in wanted {
                let mut counts = [0; Field::COUNT];
                seeker.at(table, |field, count| counts[field] = count);
                let expected = all.iter().find(|posting| posting.table == table).map_or([0; 6], |posting| posting.counts);
                prop_assert_eq!(counts, expected, "table {}", table);
                let brought: f32 =
                    (0..6).filter(|&field| counts[field] > 0).map(|field| brings(0, field, counts[field])).sum();
                prop_assert!(bounds.most_at(table) >= brought && found.most() >= brought);
            }
        }

        #[test]
        fn any_bytes_of_a_list_end(bytes: Vec<u8>, tables: u32, wanted: Vec<u32>) {
            let Some(list) = TermList::new(&bytes, tables % 400) else { return Ok(()) };
            let mut seeker = list.seeker();
            for table in wanted {
                seeker.at(table, |field, _| assert!(field < Field::COUNT));
                seeker.most_at(table);
            }
        }
    }
}
