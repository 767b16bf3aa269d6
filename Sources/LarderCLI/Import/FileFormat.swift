import LarderModel

/// The form of a file with objects, and what its columns mean. In JSON the columns are the keys of
/// the objects.
struct FileFormat: Sendable {
    var delimiter = UInt8(ascii: ",")
    /// The names of the columns; nil if the first record has them.
    var header: [String]?
    /// The properties of columns with other names; empty for a column that is left out. A name such
    /// as `#3` is the third column, unless there is a column of that name.
    var mapping: [String: String] = [:]
    /// The text between the objects of a to-many relationship; nil for the form of an export.
    var listSeparator: String?
    /// The formats of dates that are not in ISO 8601, which are tried in order: those of all
    /// columns, and those of one column.
    var dateFormats: [DateFormat] = []
    var columnDateFormats: [String: [DateFormat]] = [:]
    /// Texts that are nil.
    var nulls: [String] = []
    /// nil for a decimal point and no separators of thousands.
    var numbers: NumberForm?

    /// How the values of a column are written.
    ///
    /// - Parameter names: The names of the column: its own, and that by its position.
    func values(of names: [String]) -> ValueForm {
        let own = names.lazy.compactMap { columnDateFormats[$0] }.first
        return ValueForm(
            dateFormats: own ?? dateFormats, nulls: nulls.map { Array($0.utf8) }, numbers: numbers)
    }
}

/// How the values of a column are written.
struct ValueForm: Sendable {
    /// Empty for ISO 8601.
    var dateFormats: [DateFormat] = []
    var nulls: [[UInt8]] = []
    var numbers: NumberForm?

    /// Whether a text is nil.
    func isNull(_ text: some Sequence<UInt8>) -> Bool {
        !nulls.isEmpty && nulls.contains { $0.elementsEqual(text) }
    }
}
