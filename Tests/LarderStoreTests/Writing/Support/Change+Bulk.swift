import LarderModel
import Testing

@testable import LarderSQL
@testable import LarderStore

extension Change {
    /// A bulk update with expressions as text.
    static func updateAll(
        _ entityName: String, where format: String? = nil, _ arguments: QueryArgument...,
        variables: [String: QueryArgument] = [:], isText: Bool = false, identifiers: Bool = false,
        set expressions: KeyValuePairs<String, String>
    ) -> Change {
        .updateAll(
            ObjectSelection(
                entityName, where: format.map { .format($0) }, arguments: arguments,
                variables: variables, argumentsAreText: isText, wantsIdentifiers: identifiers),
            set: expressions.map { PropertyAssignment($0.key, .format($0.value)) })
    }

    static func deleteAll(
        _ entityName: String, where format: String? = nil, _ arguments: QueryArgument...,
        identifiers: Bool = false
    ) -> Change {
        .deleteAll(
            ObjectSelection(
                entityName, where: format.map { .format($0) }, arguments: arguments,
                wantsIdentifiers: identifiers))
    }
}

extension Library {
    /// An attribute of all objects, in the order of their keys.
    func values(_ entityName: String, _ attribute: String) throws -> [SQLValue] {
        try rows(
            "SELECT \(name: attribute) FROM \(name: entityName) ORDER BY _id"
        ).map { $0[0] }
    }

    func integers(_ entityName: String, _ attribute: String) throws -> [Int64?] {
        try values(entityName, attribute).map { value in
            if case .integer(let integer) = value { integer } else { nil }
        }
    }

    /// Inserts articles with these word counts in one set.
    @discardableResult
    func articles(
        wordCounts: some Sequence<Int64>, _ values: [String: Value] = [:]
    ) throws -> [PersistentIdentifier] {
        let changes = wordCounts.enumerated().map { place, count in
            Change.insert(
                .new("\(place)", "Article"),
                values: values.merging(
                    ["title": .string("a\(place + 1)"), "wordCount": .int(count)]) { $1 })
        }
        return try writer.save([ChangeSet(changes)])[0].get().inserted
    }
}
