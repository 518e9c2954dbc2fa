//! The months, for all that reads dates.

/// Names in lower case, in order.
pub const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
];
