/// The orders in which strings can be sorted. SQL and the in-memory evaluator share them.
///
/// Each order is total, treats only equal strings as equal, and takes time proportional to the
/// lengths of the strings.
public enum StringOrder: Hashable, Sendable, CaseIterable {
    /// By Unicode scalars.
    case plain
    /// By the form that `[c]` compares, then plain.
    case caseInsensitive
    /// For people: first without case and diacritics, with digit sequences compared as numbers;
    /// then by diacritics, then lower case before upper case, then plain.
    case localizedStandard
}
