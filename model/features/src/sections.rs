//! What the headings over a node, and what stands under them, have in common with a question.

use tabsegnet_graph::{Node, NodeKind};

use crate::phrases::{Match, Overlap, Paths, PhraseMatches, Phrases};
use crate::schema::{Schema as _, flag};

crate::blocks! {
    /// Of a node: what it is, and its section as it is and less the best of the document.
    pub(crate) struct NodeSection {
        place: Place = "{}",
        own: Section = "{}",
        of_document: Section = "{}.of_document",
    }
}

crate::features! {
    /// Of a node by its kind, with so many headings over it.
    pub(crate) struct Place(node: &Node, depth: usize) {
        heading: flag(node.kind == NodeKind::Heading),
        depth: depth.min(DEEPEST) as f32 / DEEPEST as f32,
    }
}

crate::features! {
    /// Shares are those of the question's stems, by idf; a section is what stands under one heading before the next.
    pub(crate) struct Section {
        /// That the headings of the path hold.
        headings,
        /// Of the nearest heading's stems those that the question holds.
        nearest,
        run_of_words,
        /// Runs of letters of the question that the headings hold.
        letters,
        /// That the headings and the node's own headers hold together.
        with_headers,
        /// What the headings hold of it and the node does not.
        added,
        /// The greatest cosine of a heading of the path.
        cosine,
        /// The greatest share that one node of the section holds.
        best_node,
        /// That all nodes of the section hold together.
        all_nodes,
        /// The greatest cosine of a node of the section.
        best_cosine,
    }
}

/// Headings over a node beyond which depth does not count.
const DEEPEST: usize = 8;

/// The headings of a document.
#[derive(Debug, Clone)]
pub(crate) struct Sections {
    headings: Vec<Heading>,
    /// Of each node the heading that it stands under, by its place among the headings.
    of_node: Vec<Option<u32>>,
    /// `[nodes]`
    places: Vec<Place>,
}

#[derive(Debug, Clone)]
struct Heading {
    node: usize,
    outer: Option<u32>,
}

/// What the headings of a path have of a question.
#[derive(Clone, Copy, Default)]
struct Path {
    found: Match,
    nearest: Overlap,
    cosine: f32,
}

impl Sections {
    pub(crate) fn new(nodes: &[Node]) -> Self {
        let mut number = vec![None; nodes.len()];
        let (mut headings, mut depths): (Vec<Heading>, Vec<usize>) = (Vec::new(), Vec::new());
        let (mut of_node, mut places) = (Vec::with_capacity(nodes.len()), Vec::with_capacity(nodes.len()));
        for (at, node) in nodes.iter().enumerate() {
            // A heading stands before what is under it.
            let outer: Option<u32> = node.section.and_then(|heading| *number.get(heading as usize)?);
            let depth = outer.map_or(0, |outer| depths[outer as usize]);
            of_node.push(outer);
            places.push(Place::of(node, depth));
            if node.kind == NodeKind::Heading {
                number[at] = Some(headings.len() as u32);
                headings.push(Heading { node: at, outer });
                depths.push(depth + 1);
            }
        }
        Self { headings, of_node, places }
    }

    /// Of each node. `overlaps` `[nodes]` is what their headers have of the question, `cosines` `[nodes]` those of their
    /// vectors.
    pub(crate) fn of_question(
        &self,
        phrases: &Phrases,
        query: &PhraseMatches,
        overlaps: &[Paths<Overlap>],
        cosines: &[f32],
    ) -> Vec<NodeSection> {
        let found: Vec<Match> = (0..self.of_node.len()).map(|node| query.of_node(phrases, node)).collect();
        let mut paths: Vec<Path> = Vec::with_capacity(self.headings.len());
        for heading in &self.headings {
            let outer = heading.outer.map_or_else(Path::default, |outer| paths[outer as usize]);
            paths.push(Path {
                found: outer.found.with(&found[heading.node]),
                nearest: overlaps[heading.node].headers,
                cosine: outer.cosine.max(cosines[heading.node]),
            });
        }
        // The last is of what stands under none.
        let mut stems = vec![0_u64; self.headings.len() + 1];
        let mut best = vec![(0.0_f32, 0.0_f32); self.headings.len() + 1];
        let place = |node: usize| self.of_node[node].map_or(self.headings.len(), |heading| heading as usize);
        for (node, found) in found.iter().enumerate() {
            let place = place(node);
            stems[place] |= found.stems;
            let (share, cosine) = &mut best[place];
            *share = share.max(overlaps[node].headers.stems_of_question);
            *cosine = cosine.max(cosines[node]);
        }
        let all: Vec<f32> = stems.into_iter().map(|stems| query.share(stems)).collect();
        let of_node = |(node, found): (usize, &Match)| {
            let path = self.of_node[node].map_or_else(Path::default, |heading| paths[heading as usize]);
            let (own, with_headers) = (query.share(found.stems), query.share(found.stems | path.found.stems));
            let (best_node, best_cosine) = best[place(node)];
            Section {
                headings: query.share(path.found.stems),
                nearest: path.nearest.stems_of_text,
                run_of_words: path.nearest.run_of_words,
                letters: query.share_of_letters(&path.found),
                with_headers,
                added: with_headers - own,
                cosine: path.cosine,
                best_node,
                all_nodes: all[place(node)],
                best_cosine,
            }
        };
        let own: Vec<Section> = found.iter().enumerate().map(of_node).collect();
        let greatest = Section::greatest(own.iter().copied());
        let of_node =
            |(own, place): (Section, &Place)| NodeSection { place: *place, own, of_document: own.below(greatest) };
        own.into_iter().zip(&self.places).map(of_node).collect()
    }
}
