//! What features are declared with.
//!
//! [`features!`](crate::features) declares a few that are computed together, [`blocks!`](crate::blocks) puts such
//! declarations one after the other, and [`node_features!`](self) lists those of a node with the group that switches
//! each. Names, counts and places in a row follow from there: no number written by hand is the place of a feature.

/// Features declared together: a struct with a field for each, in order.
pub trait Schema: Copy {
    /// How many there are.
    const COUNT: usize;

    /// Their names, in order; distinct.
    fn names() -> Vec<String>;

    /// Writes their values into `out` `[COUNT]`, in order.
    fn write(&self, out: &mut [f32]);

    /// `op` of each of them and the same one of `other`.
    #[must_use]
    fn zip(self, other: Self, op: impl Fn(f32, f32) -> f32 + Copy) -> Self;

    /// The same value of each.
    #[must_use]
    fn all(value: f32) -> Self;

    /// The greatest value of each over `rows`; −∞ without any.
    #[must_use]
    fn greatest(rows: impl IntoIterator<Item = Self>) -> Self {
        rows.into_iter().fold(Self::all(f32::NEG_INFINITY), |best, row| best.zip(row, f32::max))
    }

    /// Each less the same one of `best`.
    #[must_use]
    fn below(self, best: Self) -> Self {
        self.zip(best, |value, best| value - best)
    }
}

/// Declares features that are computed together: a struct with a field for each, its [`Schema`], and where each field
/// comes with an expression, `of`, which computes them from its arguments. A feature has its field's name, or the one
/// after `=`.
///
/// ```
/// tabsegnet_features::features! {
///     /// Of a text.
///     struct Length(text: &str) {
///         words: text.split_whitespace().count() as f32,
///         bytes = "bytes.utf8": text.len() as f32,
///     }
/// }
///
/// use tabsegnet_features::Schema as _;
/// assert_eq!(Length::names(), ["words", "bytes.utf8"]);
/// assert_eq!(Length::of("a word").words, 2.0);
/// ```
#[macro_export]
macro_rules! features {
    (@name $name:ident) => { stringify!($name) };
    (@name $name:ident $label:literal) => { $label };
    ($(#[$meta:meta])* $vis:vis struct $schema:ident($($argument:ident: $of:ty),* $(,)?) {
        $($(#[$doc:meta])* $name:ident $(= $label:literal)?: $value:expr),* $(,)?
    }) => {
        $crate::features! { $(#[$meta])* $vis struct $schema { $($(#[$doc])* $name $(= $label)?),* } }

        impl $schema {
            /// Computes them.
            $vis fn of($($argument: $of),*) -> Self {
                Self { $($name: $value),* }
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $schema:ident {
        $($(#[$doc:meta])* $name:ident $(= $label:literal)?),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        $vis struct $schema {
            $($(#[$doc])* $vis $name: f32),*
        }

        impl $crate::Schema for $schema {
            const COUNT: usize = [$(stringify!($name)),*].len();

            fn names() -> Vec<String> {
                [$($crate::features!(@name $name $($label)?)),*].map(String::from).to_vec()
            }

            #[inline]
            fn write(&self, out: &mut [f32]) {
                out.copy_from_slice(&[$(self.$name),*]);
            }

            #[inline]
            fn zip(self, other: Self, op: impl Fn(f32, f32) -> f32 + Copy) -> Self {
                Self { $($name: op(self.$name, other.$name)),* }
            }

            fn all(value: f32) -> Self {
                Self { $($name: value),* }
            }
        }
    };
}

/// Declares features that stand one after the other: a struct with a field for each block of them, and its [`Schema`].
/// A pattern says what a block's names become.
///
/// ```
/// # tabsegnet_features::features! { struct Length { words, bytes } }
/// tabsegnet_features::blocks! {
///     /// Of a text and the longest text.
///     struct Lengths {
///         own: Length = "{}",
///         below_best: Length = "{}.below_best",
///     }
/// }
///
/// use tabsegnet_features::Schema as _;
/// assert_eq!(Lengths::names(), ["words", "bytes", "words.below_best", "bytes.below_best"]);
/// ```
#[macro_export]
macro_rules! blocks {
    ($(#[$meta:meta])* $vis:vis struct $schema:ident {
        $($(#[$doc:meta])* $block:ident: $of:ty = $pattern:literal),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        $vis struct $schema {
            $($(#[$doc])* $vis $block: $of),*
        }

        impl $crate::Schema for $schema {
            const COUNT: usize = 0 $(+ <$of as $crate::Schema>::COUNT)*;

            fn names() -> Vec<String> {
                let mut names = Vec::with_capacity(Self::COUNT);
                $(names.extend(<$of as $crate::Schema>::names().iter().map(|name| $pattern.replace("{}", name)));)*
                names
            }

            #[inline]
            fn write(&self, out: &mut [f32]) {
                $(
                    let (block, out) = out.split_at_mut(<$of as $crate::Schema>::COUNT);
                    $crate::Schema::write(&self.$block, block);
                )*
                debug_assert!(out.is_empty(), "a row has as many numbers as features");
            }

            #[inline]
            fn zip(self, other: Self, op: impl Fn(f32, f32) -> f32 + Copy) -> Self {
                Self { $($block: $crate::Schema::zip(self.$block, other.$block, op)),* }
            }

            fn all(value: f32) -> Self {
                Self { $($block: $crate::Schema::all(value)),* }
            }
        }
    };
}

/// A feature of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// Its name, which no other has.
    pub name: String,
    /// The setting of [`crate::FeaturesConfig`] that switches it.
    pub group: &'static str,
    /// Whether it depends on the question; else on the document alone.
    pub of_question: bool,
}

/// Lists the features of a node, in order: the name of a block, and in brackets its declaration, the pattern of its
/// names, the group that switches it and whether it depends on `question` or `document`; or a function that lists them.
/// Makes of them `features` and `Layout`.
macro_rules! node_features {
    (@scope question) => { true };
    (@scope document) => { false };
    (@list $config:ident ($of:ty, $pattern:literal, $group:ident, $scope:ident)) => {
        if $config.$group {
            let (group, of_question) = (stringify!($group), node_features!(@scope $scope));
            let feature = |name: String| Feature { name: $pattern.replace("{}", &name), group, of_question };
            <$of as Schema>::names().into_iter().map(feature).collect()
        } else {
            Vec::new()
        }
    };
    (@list $config:ident ($list:path)) => { $list($config) };
    ($($(#[$doc:meta])* $block:ident = $of:tt;)*) => {
        /// Where the blocks of a node's row stand; those of a group that is off are empty.
        #[derive(Debug, Clone)]
        pub(crate) struct Layout {
            $($(#[$doc])* pub(crate) $block: Range<usize>,)*
            /// Features of a node.
            pub(crate) count: usize,
        }

        impl Layout {
            pub(crate) fn new(config: FeaturesConfig) -> Self {
                let mut count = 0;
                $(
                    let listed: Vec<Feature> = node_features!(@list config $of);
                    let $block = count..count + listed.len();
                    count = $block.end;
                )*
                Self { $($block,)* count }
            }
        }

        impl FeaturesConfig {
            /// The features of a node, in order; as many as [`crate::DocumentFeatures::features`] gives.
            pub fn features(self) -> Vec<Feature> {
                let mut features: Vec<Feature> = Vec::new();
                $(features.extend(node_features!(@list self $of));)*
                features
            }
        }
    };
}

/// 1 of what holds, else 0.
#[inline]
pub fn flag(holds: bool) -> f32 {
    f32::from(u8::from(holds))
}
