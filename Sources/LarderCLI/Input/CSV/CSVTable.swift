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
    private let format: FileFormat
    private let columnCount: Int
    /// The names of the columns as CSV.
    private(set) var headerText: [UInt8] = []
    private(set) var attributes: [AttributeColumn] = []
    private(set) var relationships: [RelationshipColumns] = []
    /// Whether the file has no header, and so no records.
    private var isEmpty = false

    init(
        _ file: InputFile, _ decoder: ObjectDecoder, _ format: FileFormat
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
        headerText =
            format.header == nil
            ? Array(reader.record)
            : Array(names.joined(separator: String(Unicode.Scalar(format.delimiter))).utf8)
        do throws(LarderError) {
            try checkMapping(names)
            try addColumns(names)
        } catch {
            throw format.header == nil
                ? error.at(line: reader.line, of: fileName)
                : LarderError(error.code, "--header: \(error.message)", hint: error.hint)
        }
        // An empty line has no fields for several columns.
        reader.readsEmptyLines = columnCount == 1 && acceptsNil
    }

    /// Whether all values may be nil. Otherwise an empty line of a file with one column cannot be
    /// an object, and is skipped.
    private var acceptsNil: Bool {
        attributes.allSatisfy { column in
            guard
                case .attribute(let attribute)? = decoder.entity.property(
                    named: column.decoder.attributeName)
            else { return false }
            return attribute.isOptional
        } && relationships.allSatisfy { $0.relationship.isOptional }
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
        guard try nextRecord() else { return false }
        do throws(LarderError) { try checkFieldCount() } catch { throw located(error) }
        return true
    }

    /// Reads the next record, whose fields may be too few or too many; false after the last.
    mutating func nextRecord() throws(LarderError) -> Bool {
        guard !isEmpty else { return false }
        return try reader.next()
    }

    func checkFieldCount() throws(LarderError) {
        guard reader.fieldCount == columnCount else { throw wrongFieldCount }
    }

    /// An error with the line of the current record.
    func located(_ error: LarderError) -> LarderError { error.at(line: reader.line, of: fileName) }

    // MARK: The header

    private static func names(
        of reader: CSVReader, _ fileName: String
    ) throws(LarderError) -> [String] {
        do throws(LarderError) {
            return try (0..<reader.fieldCount).map { (index) throws(LarderError) in
                let name = try reader.text(index) ?? ""
                guard !name.utf8.contains(0) else {
                    throw LarderError(
                        .malformedValue, "the name of column \(index + 1) has a zero byte",
                        hint: "the file is not text in UTF-8")
                }
                return name
            }
        } catch {
            throw error.at(line: reader.line, of: fileName)
        }
    }

    private func checkMapping(_ names: [String]) throws(LarderError) {
        let given = Set(names)
        for name in (Array(format.mapping.keys) + Array(format.columnDateFormats.keys)).sorted()
        where !given.contains(name) && !Self.isPosition(name, among: names.count) {
            let option = format.mapping[name] == nil ? "--date-format" : "--map"
            throw LarderError(
                .unknownProperty,
                "\(option): there is no column \"\(Self.shown([name], length: 40))\"",
                hint: NameSuggestion.hint(for: name, among: names)
                    ?? "the columns are \(Self.shown(names))")
        }
    }

    /// Whether a name such as `#3` is that of a column by its position.
    private static func isPosition(_ name: String, among count: Int) -> Bool {
        guard name.hasPrefix("#"), let number = Int(name.dropFirst()) else { return false }
        return 1...count ~= number && name == "#\(number)"
    }

    private static func shown(_ names: [String], length: Int = 400) -> String {
        EscapedText.escaped(String(names.joined(separator: ", ").prefix(length)))
    }

    private mutating func addColumns(_ names: [String]) throws(LarderError) {
        let byPosition = names.indices.map { format.mapping["#\($0 + 1)"] }
        let counts = Dictionary(grouping: names.indices.filter { byPosition[$0] == nil }) {
            names[$0]
        }
        let firstError = firstUnknown(names)
        var properties: Set<String> = []
        for (index, name) in names.enumerated() {
            // An empty name in --header leaves the column out.
            if name.isEmpty && format.header != nil && byPosition[index] == nil { continue }
            if byPosition[index] == nil {
                try checkName(name, index, counts[name] ?? [])
            }
            let property = byPosition[index] ?? format.mapping[name] ?? name
            if property.isEmpty || Self.ignored.contains(property) { continue }
            guard properties.insert(property).inserted else {
                throw LarderError(
                    .malformedValue, "more than one column has values of \(property)",
                    hint: "leave a column out with --map '#\(index + 1)='")
            }
            do throws(LarderError) {
                try addColumn(index, property, header: name)
            } catch {
                throw describing(
                    error, name, isOnlyColumn: names.count == 1, hasNoHeader: firstError)
            }
        }
    }

    /// Columns of an export, or of the rows that an import left out, that are not imported.
    private static let ignored: Set<String> = ["@id", "@entity", "@version", "@line", "@error"]

    /// Whether the header names no property, so that the file may have none.
    private func firstUnknown(_ names: [String]) -> Bool {
        format.header == nil && format.mapping.isEmpty
            && !names.contains { name in
                decoder.entity.property(named: String(name.prefix { $0 != "." })) != nil
                    || name.hasPrefix("@")
            }
    }

    private func checkName(_ name: String, _ index: Int, _ equal: [Int]) throws(LarderError) {
        let advice =
            "pass --map '#\(index + 1)=PROPERTY', or --map '#\(index + 1)=' to leave the column out"
        guard !name.isEmpty else {
            throw LarderError(
                .malformedValue, "column \(index + 1) of the header has no name",
                hint: "\(advice); for a file without a header, pass the names with --header")
        }
        guard equal.count > 1, index == equal[1] else { return }
        throw LarderError(
            .malformedValue,
            "the header contains \(Self.shown([name], length: 40)) more than once: columns "
                + equal.prefix(8).map { "\($0 + 1)" }.joined(separator: ", "), hint: advice)
    }

    private mutating func addColumn(
        _ index: Int, _ name: String, header: String
    ) throws(LarderError) {
        let form = format.values(of: [header, "#\(index + 1)"])
        guard let path = decoder.relatedPath(name) else {
            switch try decoder.property(name) {
            case .attribute(let attribute):
                var shown = "\(decoder.entity.name).\(name)"
                if header != name {
                    let column = header.isEmpty ? "#\(index + 1)" : header
                    shown = "column \(Self.shown([column], length: 40)): \(shown)"
                }
                attributes.append(
                    AttributeColumn(
                        field: index,
                        decoder: CSVFieldDecoder(
                            attribute, shown, form, assumesUTC: decoder.assumesUTC)))
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
        if relationship.isToMany, format.listSeparator == nil, !path.isEmpty {
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
        _ error: LarderError, _ name: String, isOnlyColumn: Bool, hasNoHeader: Bool
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
        if hasNoHeader {
            return error.adding(
                hint: "for a file without a header, pass the names of its columns with --header")
        }
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
        try columns.fields.map { (field) throws(LarderError) in
            guard let text = try reader.text(field.index), !format.nulls.contains(text) else {
                return nil
            }
            return text
        }
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
        let texts = field?.split(separator: format.listSeparator ?? " ").map(String.init) ?? []
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
            let list = relationship.isToMany && format.listSeparator == nil
            throw error.adding(
                hint: "to name the object by a unique value, pass --map '\(name)=\(path)'"
                    + (list ? " and --list-separator with the text between objects" : ""))
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
