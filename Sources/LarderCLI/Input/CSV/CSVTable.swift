import LarderModel
import LarderPrograms

/// A CSV file whose columns are properties of an entity, or of its related objects.
struct CSVTable {
    /// An attribute and the index of its field.
    struct AttributeColumn {
        let field: Int
        let decoder: CSVFieldDecoder
    }

    /// A relationship and the fields that name its objects: one with a URI, or one for each value,
    /// with the path of the value from the related object.
    struct RelationshipColumns {
        let relationship: Relationship
        var fields: [(index: Int, path: String)]
    }

    let fileName: String
    let decoder: ObjectDecoder
    private(set) var reader: CSVReader
    private let format: CSVFormat
    private let columnCount: Int
    private(set) var attributes: [AttributeColumn] = []
    private(set) var relationships: [RelationshipColumns] = []
    /// Whether the file has no header, and so no records.
    private var isEmpty = false

    init(
        _ file: InputFile, _ decoder: ObjectDecoder, _ format: CSVFormat
    ) throws(LarderError) {
        fileName = file.name
        self.decoder = decoder
        self.format = format
        reader = CSVReader(file, delimiter: format.delimiter)
        var names: [String] = format.header ?? []
        if format.header == nil {
            guard try reader.next() else {
                columnCount = 0
                isEmpty = true
                return
            }
            names = try Self.names(of: reader, fileName)
        }
        columnCount = names.count
        do throws(LarderError) {
            try Self.checkMapping(format.mapping, names)
            try addColumns(names)
        } catch {
            throw format.header == nil
                ? error.at(line: reader.line, of: fileName)
                : LarderError(error.code, "--header: \(error.message)", hint: error.hint)
        }
    }

    /// Whether an object may be related to others of the file.
    var namesOwnObjects: Bool {
        relationships.contains {
            $0.fields.contains { !$0.path.isEmpty }
                && decoder.schema.areRelated($0.relationship.destination, decoder.entity.name)
        }
    }

    /// Reads the next record; false after the last.
    mutating func next() throws(LarderError) -> Bool {
        guard !isEmpty, try reader.next() else { return false }
        guard reader.fieldCount == columnCount else { throw located(wrongFieldCount) }
        return true
    }

    /// An error with the line of the current record.
    func located(_ error: LarderError) -> LarderError { error.at(line: reader.line, of: fileName) }

    // MARK: The header

    private static func names(
        of reader: CSVReader, _ fileName: String
    ) throws(LarderError) -> [String] {
        var names: [String] = []
        for index in 0..<reader.fieldCount {
            guard let name = try reader.text(index), !name.isEmpty else {
                throw LarderError(
                    .malformedValue,
                    "\(fileName), line \(reader.line): "
                        + "column \(index + 1) of the header has no name",
                    hint: "for a file without a header, pass the names with --header")
            }
            names.append(name)
        }
        return names
    }

    private static func checkMapping(
        _ mapping: [String: String], _ names: [String]
    ) throws(LarderError) {
        guard let unknown = mapping.keys.sorted().first(where: { !names.contains($0) }) else {
            return
        }
        throw LarderError(
            .unknownProperty,
            "--map: there is no column \"\(EscapedText.escaped(String(unknown.prefix(40))))\"",
            hint: NameSuggestion.hint(for: unknown, among: names)
                ?? "the columns are \(shown(names))")
    }

    private static func shown(_ names: [String]) -> String {
        EscapedText.escaped(String(names.joined(separator: ", ").prefix(400)))
    }

    private mutating func addColumns(_ names: [String]) throws(LarderError) {
        var columns: Set<String> = []
        var properties: Set<String> = []
        for (index, name) in names.enumerated() {
            // An empty name in --header leaves the column out.
            if name.isEmpty { continue }
            guard columns.insert(name).inserted else {
                throw LarderError(.malformedValue, "the header contains \(name) more than once")
            }
            let property = format.mapping[name] ?? name
            if property.isEmpty || ["@id", "@entity", "@version"].contains(property) { continue }
            guard properties.insert(property).inserted else {
                throw LarderError(
                    .malformedValue, "more than one column has values of \(property)",
                    hint: "leave a column out with --map 'column='")
            }
            do throws(LarderError) {
                try addColumn(index, property)
            } catch {
                throw describing(error, name, isOnlyColumn: names.count == 1)
            }
        }
    }

    private mutating func addColumn(_ index: Int, _ name: String) throws(LarderError) {
        guard let path = decoder.relatedPath(name) else {
            switch try decoder.property(name) {
            case .attribute(let attribute):
                attributes.append(
                    AttributeColumn(
                        field: index,
                        decoder: CSVFieldDecoder(
                            attribute, "\(decoder.entity.name).\(name)", format.dateFormat,
                            assumesUTC: decoder.assumesUTC)))
            case .relationship(let relationship):
                try addField(index, "", to: relationship)
            }
            return
        }
        let relationship = try decoder.relationship(path.relationship)
        try decoder.decoder(of: relationship).checkPath(path.rest)
        try addField(index, path.rest, to: relationship)
    }

    private mutating func addField(
        _ index: Int, _ path: String, to relationship: Relationship
    ) throws(LarderError) {
        let name = "\(decoder.entity.name).\(relationship.name)"
        if relationship.isToMany, format.listSeparator == nil {
            throw LarderError(
                .wrongType, "\(name) is a to-many relationship",
                hint: "pass --list-separator with the text between the objects in a field")
        }
        guard
            let position = relationships.firstIndex(where: {
                $0.relationship.name == relationship.name
            })
        else {
            relationships.append(
                RelationshipColumns(relationship: relationship, fields: [(index, path)]))
            return
        }
        guard !path.isEmpty, !relationships[position].fields[0].path.isEmpty else {
            throw LarderError(
                .malformedValue,
                "\(name) is given both as a URI and by the values of its object")
        }
        guard !relationship.isToMany else {
            throw LarderError(
                .malformedValue, "\(name) is to-many, so one column must name its objects",
                hint: "use JSON lines to name objects by several values")
        }
        relationships[position].fields.append((index, path))
    }

    /// An error of a column with advice, and with its name if the property has another one.
    private func describing(
        _ error: LarderError, _ name: String, isOnlyColumn: Bool
    ) -> LarderError {
        var error = error
        if format.mapping[name] != nil {
            error.message =
                "--map \(EscapedText.escaped(String(name.prefix(40)))): \(error.message)"
            return error
        }
        guard error.code == .unknownProperty else { return error }
        let others = [",", ";", "\t", "|"].filter {
            $0 != String(Unicode.Scalar(format.delimiter)) && name.contains($0)
        }
        if isOnlyColumn, let other = others.first {
            let option = other == "\t" ? "tab" : "'\(other)'"
            error.hint = "for this file, pass --delimiter \(option)"
            return error
        }
        let shown = EscapedText.escaped(String(name.prefix(40)))
        let advice =
            "pass --map '\(shown)=PROPERTY', or --map '\(shown)=' to leave the column out"
        error.hint = error.hint.map { "\($0)\($0.hasSuffix("?") ? "" : ";") \(advice)" } ?? advice
        return error
    }

    private var wrongFieldCount: LarderError {
        let count = reader.fieldCount
        return LarderError(
            .malformedValue,
            "the record has \(count) \(count == 1 ? "field" : "fields"), the header \(columnCount)",
            hint: count > columnCount
                ? "a field that contains the delimiter has to be in quotation marks" : nil)
    }
}

extension CSVTable {
    /// The texts of the fields that name the objects of a relationship in the current record.
    func fields(of columns: RelationshipColumns) throws(LarderError) -> [String?] {
        try columns.fields.map { (field) throws(LarderError) in try reader.text(field.index) }
    }

    /// Reads the objects of a relationship from the texts of its fields.
    func read(
        _ fields: [String?], of columns: RelationshipColumns, into content: inout ObjectContent
    ) throws(LarderError) {
        let name = columns.relationship.name
        if columns.relationship.isToMany {
            try readList(fields[0], of: columns, into: &content)
        } else if columns.fields[0].path.isEmpty {
            content.values[name] =
                try fields[0].map { (text) throws(LarderError) in
                    .object(try identifier(text, columns.relationship))
                } ?? .null
        } else {
            let assignments = zip(columns.fields, fields).map { field, text in
                Assignment(name: field.path, content: text.map { .text($0) } ?? .null)
            }
            try decoder.readRelated(name, assignments, into: &content)
        }
    }

    private func readList(
        _ field: String?, of columns: RelationshipColumns, into content: inout ObjectContent
    ) throws(LarderError) {
        let name = columns.relationship.name
        let path = columns.fields[0].path
        let texts = field?.split(separator: format.listSeparator ?? "").map(String.init) ?? []
        guard !path.isEmpty else {
            content.values[name] = .objects(
                try texts.map { (text) throws(LarderError) in
                    try identifier(text, columns.relationship)
                })
            return
        }
        try decoder.readRelated(
            name, list: texts.map { Assignment(name: path, content: .text($0)) }, into: &content)
    }

    private func identifier(
        _ text: String, _ relationship: Relationship
    ) throws(LarderError) -> PersistentIdentifier {
        do throws(LarderError) {
            return try decoder.naming(relationship.name) { () throws(LarderError) in
                try decoder.identifier(text, relationship)
            }
        } catch {
            guard error.code == .malformedIdentifier else { throw error }
            let name = relationship.name
            let path = "\(name).\(decoder.uniqueName(of: relationship))"
            throw error.adding(
                hint: "to name the object by a unique value, pass --map '\(name)=\(path)'")
        }
    }
}

extension ObjectDecoder {
    /// Checks that a path of relationships and a last property, such as `country.name`, exists.
    fileprivate func checkPath(_ path: String) throws(LarderError) {
        guard let (name, rest) = relatedPath(path) else {
            _ = try property(path)
            return
        }
        let relationship = try relationship(name)
        guard !relationship.isToMany else {
            throw LarderError(
                .wrongType,
                "\(entity.name).\(name) is to-many; only the first relationship of a column may be")
        }
        try decoder(of: relationship).checkPath(rest)
    }

    /// A property that is unique for the objects of a relationship; `name` if there is none.
    fileprivate func uniqueName(of relationship: Relationship) -> String {
        let constraints = schema.entity(named: relationship.destination)?.uniquenessConstraints
        return constraints?.first { $0.count == 1 }?.first ?? "name"
    }
}
