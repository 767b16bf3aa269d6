import FoundationEssentials
import LarderModel
import LarderQuery

@testable import LarderObjects

extension Schema {
    /// Students with a unique name and books.
    static func sample(_ extra: String = "", version: String = "1.0.0") throws -> Schema {
        try SchemaFile.schema(
            parsing: """
                { "version": "\(version)", "entities": [
                  { "name": "Student", "unique": [["name"]],
                    "attributes": [ { "name": "name", "type": "string" },
                                    { "name": "age", "type": "int64", "default": 0 }\(extra) ],
                    "relationships": [ { "name": "books", "destination": "Book",
                       "inverse": "owner", "toMany": true, "deleteRule": "deny" } ] },
                  { "name": "Book", "attributes": [ { "name": "title", "type": "string" },
                     { "name": "text", "type": "string", "default": "" } ],
                    "relationships": [ { "name": "owner", "destination": "Student",
                       "inverse": "books", "optional": true } ] } ] }
                """)
    }
}

extension ObjectStore {
    @discardableResult
    func insert(_ names: String..., key: String = "") throws -> [PersistentIdentifier] {
        let changes = names.enumerated().map { index, name in
            Change.insert(
                PersistentIdentifier(temporary: "t\(index)", entityName: "Student"),
                values: ["name": .string(name)])
        }
        return try save(ChangeSet(changes, idempotencyKey: key)).inserted
    }

    func names() throws -> [String] {
        let batches = try batches(
            .fetch(Fetch("Student", where: nil, sort: ["name"])), QueryParameters())
        return batches.flatMap { $0.records(store: identifier) }.compactMap {
            if case .string(let name)? = $0.values["name"] { name } else { nil }
        }
    }

    func studentCount() throws -> Int64 {
        try count(.count(entityName: "Student", predicate: nil), QueryParameters())
    }
}
