import LarderModel
import LarderSQL

/// Gives entities and properties their new names in the history and in the outcomes of saves, so
/// that identifiers in them lead to the objects.
struct HistoryRenaming {
    /// By old name.
    private var entities: [String: String] = [:]
    /// By the old name of the entity.
    private var properties: [String: [String: String]] = [:]

    private static let renamedProperties = "larder_renamed_properties"
    private static let renamedEntities = "larder_renamed_entities"

    init(_ mapping: SchemaMapping) {
        for entity in mapping.new.entities {
            guard let origin = mapping.origin(of: entity) else { continue }
            if origin.name != entity.name { entities[origin.name] = entity.name }
            for name in entity.allNames {
                guard let former = mapping.origin(of: name, in: entity), former.name != name else {
                    continue
                }
                properties[origin.name, default: [:]][former.name] = name
            }
        }
    }

    func run(on connection: Connection) throws(SQLError) {
        guard !entities.isEmpty || !properties.isEmpty else { return }
        let (entities, properties) = (entities, properties)
        try connection.registerScalar(name: Self.renamedProperties, argumentCount: 2) { arguments in
            guard !arguments[1].isNull else { return .null }
            let names = properties[arguments[0].string] ?? [:]
            let renamed = arguments[1].string.split(separator: ",").map {
                names[String($0)] ?? String($0)
            }
            return .text(renamed.sorted().joined(separator: ","))
        }
        try connection.registerScalar(name: Self.renamedEntities, argumentCount: 1) { arguments in
            .text(Self.renamed(arguments[0].string, entities))
        }
        let names = Set(entities.keys).union(properties.keys).sorted()
        let isRenamed: SQL = "entity IN (\(names.map { "\(literal: $0)" as SQL }))"
        for table in [Layout.transactionTable, Layout.changeTable] {
            try connection.execute(
                """
                UPDATE \(name: table) SET \
                properties = \(function: Self.renamedProperties)(entity, properties), \
                entity = \(function: Self.renamedEntities)(entity) WHERE \(isRenamed)
                """)
        }
        try renamePreserved(isRenamed, on: connection)
        guard !entities.isEmpty else { return }
        try connection.execute(
            """
            UPDATE \(name: Layout.outcomeTable) SET \
            inserted = \(function: Self.renamedEntities)(inserted), \
            affected = \(function: Self.renamedEntities)(affected)
            """)
    }

    /// In two steps, because a new name may be the old one of another row.
    private func renamePreserved(
        _ isRenamed: SQL, on connection: Connection
    ) throws(SQLError) {
        let table: SQL = "\(name: Layout.preservedTable)"
        try connection.execute(
            """
            UPDATE \(table) SET \
            property = \(function: Self.renamedProperties)(entity, property), \
            entity = '>' || \(function: Self.renamedEntities)(entity) WHERE \(isRenamed);
            UPDATE \(table) SET entity = substr(entity, 2) WHERE entity LIKE '>%'
            """)
    }

    /// A text with the names of entities renamed. Names are whole words.
    private static func renamed(_ text: String, _ names: [String: String]) -> String {
        var result: [UInt8] = []
        var word: [UInt8] = []
        func endWord() {
            let name = String(decoding: word, as: UTF8.self)
            result += names[name].map { Array($0.utf8) } ?? word
            word = []
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                word.append(byte)
            default:
                endWord()
                result.append(byte)
            }
        }
        endWord()
        return String(decoding: result, as: UTF8.self)
    }
}
