import FoundationEssentials
import LarderModel
import LarderQuery

/// Reads the rows of an insertion from a file, batch by batch.
protocol RowSource {
    /// The next rows; nil after the last.
    mutating func next() throws(LarderError) -> SourceRows?
}

/// Rows of a file.
struct SourceRows {
    let batch: Batch
    /// The line on which each row begins.
    let lines: [Int]

    /// The limits of a batch, which is a transaction unless the whole file is one.
    static let rowsMax = ChangeSetImporter.objectsMax
    static let bytesMax = ChangeSetImporter.bytesMax
}

extension Entity {
    /// The value that an insert stores for a property that it does not name.
    func defaultValue(of name: String) -> Value {
        switch property(named: name) {
        case .attribute(let attribute): attribute.defaultValue ?? .null
        case .relationship(let relationship) where relationship.isToMany: .objects([])
        case .relationship, nil: .null
        }
    }

    /// The property of a row that names none, because a row has at least one.
    var propertyOfEmptyRows: [String] {
        attributes.filter { !$0.isDerived }.prefix(1).map(\.name)
    }
}
