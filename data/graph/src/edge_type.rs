//! The edge types of a document's graph.

macro_rules! edge_types {
    ($($variant:ident / $reverse:ident: $name:literal, $reverse_name:literal;)*) => {
        /// What an edge of a document's graph says of its two ends. Every type has its reverse.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs)] // the names below are the documentation
        pub enum EdgeType { $($variant, $reverse,)* }

        impl EdgeType {
            /// All types; the position is the type's number, row `t` of the model's `R`.
            pub const ALL: [Self; 0 $(+ { let _ = Self::$variant; 2 })*] =
                [$(Self::$variant, Self::$reverse,)*];

            /// The name used in files: source kind, relation, destination kind.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name, Self::$reverse => $reverse_name,)* }
            }

            /// The type of the same connection seen from the other end.
            #[must_use]
            pub fn reverse(self) -> Self {
                match self { $(Self::$variant => Self::$reverse, Self::$reverse => Self::$variant,)* }
            }
        }
    };
}

edge_types! {
    PassageNext / PassagePrevious: "passage_next_passage", "passage_previous_passage";
    PassageCaption / CaptionPassage: "passage_to_caption", "caption_to_passage";
    CaptionNext / CaptionPrevious: "caption_next_caption", "caption_previous_caption";
    CaptionRowHeader / RowHeaderCaption: "caption_to_row_header", "row_header_to_caption";
    CaptionColumnHeader / ColumnHeaderCaption: "caption_to_column_header", "column_header_to_caption";
    CaptionCell / CellCaption: "caption_to_cell", "cell_to_caption";
    RowHeaderCell / CellRowHeader: "row_header_to_cell", "cell_to_row_header";
    ColumnHeaderCell / CellColumnHeader: "column_header_to_cell", "cell_to_column_header";
    CellRight / CellLeft: "cell_right_cell", "cell_left_cell";
    CellBelow / CellAbove: "cell_below_cell", "cell_above_cell";
    HeaderChild / HeaderParent: "header_child_header", "header_parent_header";
    HeadingPassage / PassageHeading: "heading_to_passage", "passage_to_heading";
    HeadingCaption / CaptionHeading: "heading_to_caption", "caption_to_heading";
    HeadingChild / HeadingParent: "heading_child_heading", "heading_parent_heading";
}

impl EdgeType {
    /// The type's number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The type with a number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
