/// Groups rows by hashing. SQLite itself would sort all rows.
///
/// `larder_groups(form, key, …, value, …)` aggregates all rows, stores the groups, and returns
/// their number. Its `form` is the number of keys and the functions, for example `2 rows sum`;
/// `rows` has no value among the arguments. `larder_count_groups(key, …)` only counts rows and
/// needs no form. `larder_count_integers(key)` does the same for a single column of integers. The
/// table `_groups(number)` has a row for each group, in no order: its keys in `g0`, `g1`, …, then
/// the computed values.
package enum GroupFunctions {
    package static let groups = "larder_groups"
    package static let countGroups = "larder_count_groups"
    package static let countIntegers = "larder_count_integers"
    package static let table = "_groups"
    /// The maximum number of keys and computed values. SQLite allows a function some more
    /// arguments.
    package static let columnsMax = 100

    /// The column of the table with a key or, after the keys, with a computed value.
    package static func column(_ index: Int) -> String { "g\(index)" }

    /// A call with its keys and values.
    ///
    /// - Parameter isIntegerColumn: Whether the only key is a column of integers.
    package static func call(
        _ arguments: [SQL], keyCount: Int, _ functions: [GroupFunction], isIntegerColumn: Bool
    ) -> SQL {
        if functions == [.rows] {
            return "\(function: isIntegerColumn ? countIntegers : countGroups)(\(arguments))"
        }
        let form = GroupForm(keyCount: keyCount, functions: functions).text
        return "\(function: groups)(\(literal: form), \(arguments))"
    }
}

/// The number of keys and the functions over groups.
package struct GroupForm: Hashable, Sendable {
    package let keyCount: Int
    package let functions: [GroupFunction]
    /// Whether all rows are one group, whatever its keys; it exists without rows, too.
    package var hasOneGroup = false

    package init(keyCount: Int, functions: [GroupFunction], hasOneGroup: Bool = false) {
        self.keyCount = keyCount
        self.functions = functions
        self.hasOneGroup = hasOneGroup
    }

    /// Reads a text, for example `2 rows sum`.
    package init(_ text: String) {
        let words = text.split(separator: " ")
        keyCount = words.first.flatMap { Int($0) } ?? 0
        functions = words.dropFirst().compactMap { GroupFunction(rawValue: String($0)) }
    }

    package var text: String {
        ([String(keyCount)] + functions.map(\.rawValue)).joined(separator: " ")
    }
}

/// The function of one output column over groups.
package enum GroupFunction: String, Hashable, Sendable {
    /// The number of rows; it has no argument.
    case rows
    /// The number of values except nil. All functions below ignore nil too.
    case count
    /// The exact sum of integers; 0 for no values, as all sums.
    case sum
    case average
    /// The sum of doubles, rounded once.
    case realSum
    case realAverage
    /// The exact sum of decimals.
    case decimalSum
    case decimalAverage
    /// For numbers that are not decimals.
    case minimum
    case maximum
}
