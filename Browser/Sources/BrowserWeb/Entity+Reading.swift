import BrowserViews
import LarderClient

extension Entity {
    /// The attribute by whose text a reader recognizes an object: a unique one first.
    var labelAttribute: String? {
        let texts = attributes.filter { $0.type == .string }.map(\.name)
        return texts.first { uniquenessConstraints.contains([$0]) }
            ?? texts.first { ["name", "title", "label"].contains($0) } ?? texts.first
    }
}

extension QueryColumn {
    /// The beginning of a text, with one character more than is shown, so that it is known whether
    /// it is all.
    init(startOf path: [String], characters: Int, name: String) {
        self.init(
            .tree(
                .function(
                    .substring,
                    [
                        .keyPath(.object, path), .constant(.int(0)),
                        .constant(.int(Int64(characters) + 1)),
                    ])),
            name: name)
    }

    init(path: [String], name: String) {
        self.init(.tree(.keyPath(.object, path)), name: name)
    }
}

/// The columns with which objects are read, so that no long text or data is read for a page.
struct ReadColumns {
    private(set) var columns: [QueryColumn] = []

    /// Adds a column and returns its name.
    mutating func add(_ make: (_ name: String) -> QueryColumn) -> String {
        let name = "c\(columns.count)"
        columns.append(make(name))
        return name
    }
}

/// A property as a page reads it.
struct ReadProperty {
    enum Kind {
        /// An attribute; of a long text the beginning is read.
        case attribute(Attribute)
        /// Whether data is not nil.
        case data
        case toOne(label: String?)
        case toMany
    }

    let name: String
    let kind: Kind
    /// The name of the column.
    let column: String

    /// - Parameters:
    ///   - labelAttribute: That of the destination of a to-one relationship.
    ///   - characters: The longest text that is shown.
    init(
        _ property: Property, labelAttribute: String?, characters: Int,
        _ columns: inout ReadColumns
    ) {
        switch property {
        case .attribute(let attribute):
            name = attribute.name
            let path = [attribute.name]
            switch attribute.type {
            case .string:
                kind = .attribute(attribute)
                column = columns.add {
                    QueryColumn(startOf: path, characters: characters, name: $0)
                }
            case .data:
                kind = .data
                column = columns.add {
                    let isGiven = Comparison(.keyPath(.object, path), .notEqual, .constant(.null))
                    return QueryColumn(.tree(.comparison(isGiven)), name: $0)
                }
            default:
                kind = .attribute(attribute)
                column = columns.add { QueryColumn(path: path, name: $0) }
            }
        case .relationship(let relationship) where relationship.isToMany:
            name = relationship.name
            kind = .toMany
            column = columns.add {
                QueryColumn(
                    .tree(.collection(.count, .keyPath(.object, [relationship.name]))), name: $0)
            }
        case .relationship(let relationship):
            name = relationship.name
            column = columns.add { QueryColumn(path: [relationship.name], name: $0) }
            let label = labelAttribute.map { attribute in
                columns.add {
                    QueryColumn(
                        startOf: [relationship.name, attribute], characters: 80, name: $0)
                }
            }
            kind = .toOne(label: label)
        }
    }

    func shown(_ record: Record, characters: Int) -> ShownValue {
        let value = record[column] ?? .null
        switch kind {
        case .attribute: return ShownValue(value, charactersMax: characters)
        case .data:
            return value == .bool(true) ? .data(byteCount: nil, imageType: nil) : .null
        case .toMany:
            guard case .int(let count) = value else { return .null }
            return .count(count)
        case .toOne(let label):
            guard case .object(let identifier) = value else { return .null }
            return .object(ShownObject(identifier, label: label.flatMap { record[$0] }?.text))
        }
    }
}

extension Schema {
    /// - Throws: ``BrowseError/unknownEntity(_:hint:)``.
    func requiredEntity(_ name: String) throws(BrowseError) -> Entity {
        if let entity = entity(named: name) { return entity }
        let lower = name.lowercased()
        let near = entities.first {
            $0.name.lowercased() == lower || $0.name.lowercased() + "s" == lower
        }
        throw .unknownEntity(
            String(name.prefix(128)), hint: near.map { "Is \($0.name) meant?" })
    }

    func labelAttribute(of entityName: String) -> String? {
        entity(named: entityName)?.labelAttribute
    }

    /// A property as a page reads it.
    func reading(
        _ property: Property, characters: Int, _ columns: inout ReadColumns
    ) -> ReadProperty {
        var label: String?
        if case .relationship(let relationship) = property {
            label = labelAttribute(of: relationship.destination)
        }
        return ReadProperty(
            property, labelAttribute: label, characters: characters, &columns)
    }
}

extension SortKey {
    /// Parses `title`, `published:desc` or `title:asc`.
    init(text: String) {
        if text.hasSuffix(":desc") {
            self.init(String(text.dropLast(5)), descending: true)
        } else {
            self.init(text.hasSuffix(":asc") ? String(text.dropLast(4)) : text)
        }
    }
}
