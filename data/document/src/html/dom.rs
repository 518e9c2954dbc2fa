//! The page as a tree in one vector: nothing recurses, however deep a page is nested.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};

/// Index of a node.
pub(super) type Id = u32;

const NONE: Id = u32::MAX;

/// The document node.
pub(super) const ROOT: Id = 0;

#[derive(Debug)]
pub(super) struct Node {
    parent: Id,
    first_child: Id,
    last_child: Id,
    previous: Id,
    next: Id,
    depth: u32,
    /// The line of the page on which the node begins, from 1.
    pub line: u32,
    pub data: Data,
}

#[derive(Debug)]
pub(super) enum Data {
    Element { name: QualName, attributes: Vec<(LocalName, StrTendril)> },
    Text(StrTendril),
    Other,
}

/// A parsed page.
#[derive(Debug)]
pub(super) struct Dom {
    nodes: Vec<Node>,
    /// Tags were left out because they were nested too deep.
    pub too_deep: bool,
    /// The rest of the page was left out because it makes more nodes than a page of its size may.
    pub too_many: bool,
    /// Attributes were left out of tags that have too many.
    pub too_many_attributes: bool,
    /// How many pages the text says to begin.
    pub pages: usize,
}

/// A step of a walk through a subtree, in document order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Enter(Id),
    Leave(Id),
}

impl Dom {
    /// Parses a page. Tags nested deeper than `max_depth` are left out, their text stays.
    pub fn parse(text: &str, max_depth: u32) -> Self {
        let bounded = super::attributes::bounded(text);
        let too_many_attributes = matches!(bounded, Cow::Owned(_));
        let text = &*bounded;
        let guard = Guard {
            max_depth,
            max_nodes: text.len() / 4 + 10_000,
            // A page that says it is XML means it when it writes `<div/>`.
            xml: text.trim_start().starts_with("<?xml"),
            left_out: RefCell::default(),
            too_deep: Cell::new(false),
            too_many: Cell::new(false),
            pages: Cell::new(0),
            builder: TreeBuilder::new(Sink::new(), TreeBuilderOpts { drop_doctype: true, ..Default::default() }),
        };
        let input = BufferQueue::default();
        input.push_back(StrTendril::from(text));
        let tokenizer = Tokenizer::new(guard, TokenizerOpts::default());
        // A script is the only reason to stop early; it is not run.
        while !matches!(tokenizer.feed(&input), html5ever::TokenizerResult::Done) {}
        tokenizer.end();
        let Guard { builder, too_deep, too_many, pages, .. } = tokenizer.sink;
        let nodes = builder.sink.nodes.into_inner();
        Self { nodes, too_deep: too_deep.get(), too_many: too_many.get(), too_many_attributes, pages: pages.get() }
    }

    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// The lower-case name of an element, with its prefix as written (`ix:header`); else empty.
    pub fn name(&self, id: Id) -> &str {
        match &self.node(id).data {
            Data::Element { name, .. } => &name.local,
            _ => "",
        }
    }

    pub fn attribute(&self, id: Id, name: &str) -> Option<&str> {
        match &self.node(id).data {
            Data::Element { attributes, .. } => {
                attributes.iter().find(|(key, _)| &**key == name).map(|(_, value)| &**value)
            }
            _ => None,
        }
    }

    pub fn parent(&self, id: Id) -> Option<Id> {
        some(self.node(id).parent)
    }

    /// All nodes of a subtree, the root of it included, in document order.
    pub fn subtree(&self, root: Id) -> impl Iterator<Item = Id> {
        let mut walk = self.walk(root);
        std::iter::from_fn(move || {
            loop {
                if let Step::Enter(id) = walk.next()? {
                    return Some(id);
                }
            }
        })
    }

    pub fn walk(&self, root: Id) -> Walk<'_> {
        Walk { dom: self, root, next: Some(Step::Enter(root)) }
    }

    /// All nodes, in the order in which they were made.
    pub fn ids(&self) -> impl Iterator<Item = Id> {
        0..self.nodes.len() as Id
    }

    /// The text of a subtree as it stands.
    pub fn text(&self, root: Id) -> String {
        let texts = self.subtree(root).filter_map(|id| match &self.node(id).data {
            Data::Text(text) => Some(&**text),
            _ => None,
        });
        texts.collect()
    }
}

/// A walk that can leave subtrees out.
pub(super) struct Walk<'a> {
    dom: &'a Dom,
    root: Id,
    next: Option<Step>,
}

impl Walk<'_> {
    /// After [`Step::Enter`]: goes on behind the subtree, without its [`Step::Leave`].
    pub fn pass_over(&mut self, id: Id) {
        self.next = self.after(id);
    }

    fn after(&self, id: Id) -> Option<Step> {
        if id == self.root {
            return None;
        }
        let node = self.dom.node(id);
        some(node.next).map(Step::Enter).or_else(|| some(node.parent).map(Step::Leave))
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let step = self.next?;
        self.next = match step {
            Step::Enter(id) => Some(some(self.dom.node(id).first_child).map_or(Step::Leave(id), Step::Enter)),
            Step::Leave(id) => self.after(id),
        };
        Some(step)
    }
}

fn some(id: Id) -> Option<Id> {
    (id != NONE).then_some(id)
}

/// Stands before the tree builder and leaves out what would take unbounded time or memory: tags
/// nested beyond a depth (browsers do the same), and everything once misnested formatting tags
/// have multiplied into more nodes than a page of that size has.
struct Guard {
    max_depth: u32,
    max_nodes: usize,
    xml: bool,
    /// Names of the start tags left out whose end tags are still to come.
    left_out: RefCell<Vec<LocalName>>,
    too_deep: Cell<bool>,
    too_many: Cell<bool>,
    pages: Cell<usize>,
    builder: TreeBuilder<Id, Sink>,
}

impl TokenSink for Guard {
    type Handle = Id;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Id> {
        if self.builder.sink.nodes.borrow().len() > self.max_nodes && !matches!(token, Token::EOFToken) {
            self.too_many.set(true);
            return TokenSinkResult::Continue;
        }
        if let Token::TagToken(tag) = &token
            && tag.kind == TagKind::StartTag
            && tag.name == local_name!("html")
        {
            self.pages.set(self.pages.get() + 1);
        }
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag && self.builder.sink.open.get() >= self.max_depth => {
                self.too_deep.set(true);
                if !tag.self_closing {
                    self.left_out.borrow_mut().push(tag.name);
                }
                TokenSinkResult::Continue
            }
            Token::TagToken(tag) if tag.kind == TagKind::EndTag && self.was_left_out(&tag.name) => {
                TokenSinkResult::Continue
            }
            Token::TagToken(tag)
                if self.xml && tag.self_closing && tag.kind == TagKind::StartTag && !is_void(&tag.name) =>
            {
                let end = Tag { kind: TagKind::EndTag, self_closing: false, attrs: Vec::new(), ..tag.clone() };
                let result = self.builder.process_token(Token::TagToken(Tag { self_closing: false, ..tag }), line);
                let _ = self.builder.process_token(Token::TagToken(end), line);
                match result {
                    // The element is closed already: what follows is no script or raw text.
                    TokenSinkResult::Script(_) | TokenSinkResult::RawData(_) => TokenSinkResult::Continue,
                    other => other,
                }
            }
            token => self.builder.process_token(token, line),
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl Guard {
    fn was_left_out(&self, name: &LocalName) -> bool {
        let mut left_out = self.left_out.borrow_mut();
        let matches = left_out.last() == Some(name);
        if matches {
            left_out.pop();
        }
        matches
    }
}

fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("hr")
            | local_name!("img")
            | local_name!("input")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr")
    )
}

struct Sink {
    nodes: RefCell<Vec<Node>>,
    /// How deep the element is that was opened or closed last.
    open: Cell<u32>,
    line: Cell<u32>,
}

impl Sink {
    fn new() -> Self {
        let sink = Self { nodes: RefCell::default(), open: Cell::new(0), line: Cell::new(1) };
        sink.add(Data::Other);
        sink
    }

    fn add(&self, data: Data) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        let line = self.line.get();
        nodes.push(Node {
            parent: NONE,
            first_child: NONE,
            last_child: NONE,
            previous: NONE,
            next: NONE,
            depth: 0,
            line,
            data,
        });
        (nodes.len() - 1) as Id
    }

    fn detach(&self, id: Id) {
        let mut nodes = self.nodes.borrow_mut();
        let Node { parent, previous, next, .. } = nodes[id as usize];
        if previous != NONE {
            nodes[previous as usize].next = next;
        } else if parent != NONE {
            nodes[parent as usize].first_child = next;
        }
        if next != NONE {
            nodes[next as usize].previous = previous;
        } else if parent != NONE {
            nodes[parent as usize].last_child = previous;
        }
        let node = &mut nodes[id as usize];
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    }

    /// Puts a node among a parent's children, before one of them or as the last.
    fn insert(&self, parent: Id, before: Id, child: NodeOrText<Id>) {
        if let NodeOrText::AppendNode(id) = child {
            self.detach(id);
        }
        let previous = match before {
            NONE => self.nodes.borrow()[parent as usize].last_child,
            before => self.nodes.borrow()[before as usize].previous,
        };
        let id = match child {
            NodeOrText::AppendNode(id) => id,
            NodeOrText::AppendText(text) => {
                if previous != NONE
                    && let Data::Text(earlier) = &mut self.nodes.borrow_mut()[previous as usize].data
                {
                    earlier.push_tendril(&text);
                    return;
                }
                self.add(Data::Text(text))
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        let depth = nodes[parent as usize].depth + 1;
        let node = &mut nodes[id as usize];
        (node.parent, node.previous, node.next, node.depth) = (parent, previous, before, depth);
        if matches!(node.data, Data::Element { .. }) {
            self.open.set(depth);
        }
        if previous == NONE {
            nodes[parent as usize].first_child = id;
        } else {
            nodes[previous as usize].next = id;
        }
        if before == NONE {
            nodes[parent as usize].last_child = id;
        } else {
            nodes[before as usize].previous = id;
        }
    }
}

/// An element's name while the tree builder looks at it.
#[derive(Debug)]
struct Name<'a>(Ref<'a, QualName>);

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

/// For nodes that are no elements; the builder does not ask for their names.
static NO_NAME: std::sync::LazyLock<QualName> =
    std::sync::LazyLock::new(|| QualName::new(None, ns!(), local_name!("")));

/// The attributes that readers look at; the others would only take memory.
#[rustfmt::skip]
const KEPT: [&str; 19] = [
    "style", "rowspan", "colspan", "hidden", "role", "href", "scope", "align", "id", "name", "contextref",
    "unitref", "scale", "sign", "decimals", "format", "dimension", "xsi:nil", "bgcolor",
];

impl TreeSink for Sink {
    type Handle = Id;
    type Output = Self;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> Name<'a> {
        Name(Ref::map(self.nodes.borrow(), |nodes| match &nodes[*target as usize].data {
            Data::Element { name, .. } => name,
            _ => &*NO_NAME,
        }))
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Id {
        let kept = attributes.into_iter().filter(|attribute| KEPT.contains(&&*attribute.name.local));
        let attributes = kept.map(|attribute| (attribute.name.local, attribute.value)).collect();
        self.add(Data::Element { name, attributes })
    }

    fn create_comment(&self, _: StrTendril) -> Id {
        self.add(Data::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Id {
        self.add(Data::Other)
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.insert(*parent, NONE, child);
    }

    fn append_based_on_parent_node(&self, element: &Id, previous: &Id, child: NodeOrText<Id>) {
        if self.nodes.borrow()[*element as usize].parent == NONE {
            self.append(previous, child);
        } else {
            self.append_before_sibling(element, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn pop(&self, node: &Id) {
        self.open.set(self.nodes.borrow()[*node as usize].depth.saturating_sub(1));
    }

    fn get_template_contents(&self, target: &Id) -> Id {
        *target
    }

    fn same_node(&self, x: &Id, y: &Id) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        let parent = self.nodes.borrow()[*sibling as usize].parent;
        if parent != NONE {
            self.insert(parent, *sibling, child);
        }
    }

    fn add_attrs_if_missing(&self, _: &Id, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &Id) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &Id, new_parent: &Id) {
        loop {
            let child = self.nodes.borrow()[*node as usize].first_child;
            if child == NONE {
                break;
            }
            self.insert(*new_parent, NONE, NodeOrText::AppendNode(child));
        }
    }

    fn set_current_line(&self, line: u64) {
        self.line.set(u32::try_from(line).unwrap_or(u32::MAX));
    }
}
