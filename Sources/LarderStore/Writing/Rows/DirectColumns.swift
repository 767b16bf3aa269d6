import LarderModel
import LarderSQL

/// The columns of a batch as parameters of a statement that inserts rows.
struct DirectColumns {
    final class Cell {
        enum Content {
            /// All values are valid and can be bound without a copy.
            case valid(BoundColumn)
            /// Each value has to be checked.
            case unchecked(Column, StoredAttribute)
            /// The keys of a to-one's destinations.
            case link(Column, StoredRelationship)
        }

        let content: Content
        /// The index of its first parameter in a row.
        let parameter: Int

        init(_ content: Content, _ parameter: Int) {
            self.content = content
            self.parameter = parameter
        }
    }

    /// A unique attribute with its constraint. `column` is nil if the rows have the default.
    typealias Unique = (
        constraint: StoredConstraint, column: Column?, attribute: StoredAttribute
    )

    private(set) var cells: [Cell] = []
    /// Values that are equal in all rows, with their parameters.
    private(set) var constants: [(parameter: Int, value: SQLValue)] = []
    let uniques: [Unique]
    /// The indices of constraints over several properties, which have no UNIQUE index.
    let combinations: [Int]

    /// Whether a row needs reads that earlier rows may change: the last position in a list, or the
    /// object with a combination of values.
    var isRowByRow: Bool {
        !combinations.isEmpty
            || cells.contains { cell in
                if case .link(_, let relationship) = cell.content {
                    relationship.parameterCount > 1
                } else {
                    false
                }
            }
    }

    init(uniques: [Unique], combinations: [Int]) {
        self.uniques = uniques
        self.combinations = combinations
    }

    mutating func append(_ content: Cell.Content, at parameter: Int) {
        cells.append(Cell(content, parameter))
    }

    mutating func append(_ constant: SQLValue, at parameter: Int) {
        constants.append((parameter, constant))
    }
}

extension StoredRelationship {
    /// The number of parameters of a to-one in the statement that inserts its row.
    var parameterCount: Int {
        guard case .own(let column) = storage else { return 0 }
        return column.positionColumn == nil ? 1 : 2
    }
}
