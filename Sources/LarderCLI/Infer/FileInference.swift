import LarderModel
import LarderPrograms

/// Proposes an entity for the objects of a CSV or JSON file, and how to import them.
///
/// It reads the file to its end, because the last row may have another type. Memory is bounded by
/// the number of columns and the longest row.
struct FileInference {
    /// A column, or a key of JSON objects.
    struct Column {
        let name: String
        /// Empty for a column that is left out.
        var property = ""
        var facts: ColumnFacts
    }

    private let file: InputFile
    private var format: FileFormat
    private let isJSON: Bool
    /// Whether rows that cannot be read are left out, because the import writes them elsewhere.
    private let skipsBadRows: Bool
    private(set) var columns: [Column] = []
    private(set) var rowCount = 0
    private var progress = Progress("read")
    /// The first row, if it may be a header.
    private var first: [String?]?
    private var positions: [String: Int] = [:]
    /// The only JSON object so far.
    private var single: [String: JSONValue]?

    private static let years = 1_000...9_999
    /// The distinct values of all columns that are counted.
    private static let distinctMax = 1_000_000

    init(
        _ file: InputFile, _ format: FileFormat, isJSON: Bool, findsDelimiter: Bool,
        skipsBadRows: Bool = false
    ) throws(LarderError) {
        self.file = file
        self.format = format
        self.isJSON = isJSON
        self.skipsBadRows = skipsBadRows
        if findsDelimiter && !isJSON {
            self.format.delimiter = try DelimiterSearch.delimiter(of: file)
        }
    }

    /// Reads the file.
    ///
    /// - Returns: the entity, and the format with which its objects are imported.
    mutating func entity(named name: String) throws(LarderError) -> (Entity, FileFormat) {
        try read()
        try nameProperties()
        let attributes = columns.filter { !$0.property.isEmpty }.map { column in
            Attribute(
                name: column.property, type: column.facts.attributeType,
                isOptional: column.facts.isOptional
                    || column.facts.valueCount + column.facts.nilCount < rowCount,
                scale: column.facts.attributeType == .decimal ? column.facts.scale : nil)
        }
        guard !attributes.isEmpty else {
            throw LarderError(.malformedValue, "\(file.name) has no columns")
        }
        guard attributes.count <= Limits.propertiesMax else {
            throw LarderError(
                .resourceExhausted,
                "\(file.name) has \(attributes.count) columns, and an entity at most "
                    + "\(Limits.propertiesMax) properties",
                hint: "leave columns out, such as with --map '#3='")
        }
        let counts = Dictionary(grouping: columns, by: \.name).mapValues(\.count)
        for (index, column) in columns.enumerated() {
            let isNamed = !column.name.isEmpty && counts[column.name] == 1
            let key = isJSON || isNamed ? column.name : "#\(index + 1)"
            if column.property != column.name || !isJSON && !isNamed {
                format.mapping[key] = column.property
            }
            if let dateFormat = column.facts.type?.dateFormat,
                let parsed = try? DateFormat(dateFormat)
            {
                format.columnDateFormats[key] = [parsed]
            }
        }
        return (Entity(name: name, attributes: attributes), format)
    }

    private mutating func read() throws(LarderError) {
        defer { progress.end() }
        if isJSON { try readJSON() } else { try readCSV() }
    }

    private mutating func showProgress() {
        if progress.isShown { progress.show(rowCount, fraction: file.readFraction) }
    }

    // MARK: CSV

    private mutating func readCSV() throws(LarderError) {
        var reader = CSVReader(file, delimiter: format.delimiter)
        if let header = format.header {
            columns = makeColumns(header)
        } else {
            guard try reader.next() else { return }
            do throws(LarderError) {
                first = try (0..<reader.fieldCount).map { (index) throws(LarderError) in
                    try reader.text(index)
                }
            } catch {
                throw error.at(line: reader.line, of: file.name)
            }
            columns = makeColumns((first ?? []).map { $0 ?? "" })
        }
        reader.readsEmptyLines = columns.count == 1
        while try reader.next() {
            showProgress()
            do throws(LarderError) {
                try append(reader)
            } catch {
                if skipsBadRows { continue }
                let located = error.at(line: reader.line, of: file.name)
                throw rowCount > 0
                    ? located.adding(hint: "import --infer --skip-bad BADFILE leaves such rows out")
                    : located
            }
        }
        if let first, isData(first) {
            for (index, text) in first.enumerated() {
                append(text.map { Array($0.utf8)[...] }, to: index, line: 1)
            }
            rowCount += 1
            format.header = columns.indices.map { "column\($0 + 1)" }
            columns = zip(format.header ?? [], columns).map { Column(name: $0, facts: $1.facts) }
        }
    }

    private func makeColumns(_ names: [String]) -> [Column] {
        let distinctMax = min(
            ColumnFacts.distinctMax, max(16, Self.distinctMax / max(1, names.count)))
        return names.map { Column(name: $0, facts: ColumnFacts(distinctMax: distinctMax)) }
    }

    private mutating func append(_ reader: CSVReader) throws(LarderError) {
        guard reader.fieldCount == columns.count else {
            throw LarderError(
                .malformedValue,
                "the record has \(reader.fieldCount) fields, the first one \(columns.count)",
                hint: rowCount > 0
                    ? nil
                    : "if the first line is not a part of the table, leave it out: "
                        + "tail -n +2 \(file.name) > NEWFILE")
        }
        // A field that is not UTF-8 must not leave a part of its row.
        var fields: [ArraySlice<UInt8>?] = []
        for index in columns.indices { fields.append(try reader.field(index)) }
        for (index, field) in fields.enumerated() { append(field, to: index, line: reader.line) }
        rowCount += 1
    }

    private mutating func append(_ field: ArraySlice<UInt8>?, to index: Int, line: Int) {
        guard let field, !format.nulls.contains(where: { $0.utf8.elementsEqual(field) }) else {
            return columns[index].facts.appendNil()
        }
        if let numbers = format.numbers, let plain = numbers.plain(field),
            InferredType.number(plain) != nil
        {
            return columns[index].facts.append(plain, line: line)
        }
        columns[index].facts.append(field, line: line)
    }

    /// Whether the first record is an object and not the names of the columns: it has a number or a
    /// date where the rest of the column has them too, and no column begins with another text.
    private func isData(_ first: [String?]) -> Bool {
        var isTyped = false
        var years: [Int] = []
        for (text, column) in zip(first, columns) {
            guard let type = column.facts.type, let text, !text.isEmpty else { continue }
            let bytes = Array(text.utf8)[...]
            guard type.accepts(bytes, InferredType.number(bytes)) else { return false }
            isTyped = true
            years.append(Int(text) ?? 0)
        }
        // A table with a column for each year.
        let areYears =
            years.count > 1 && Self.years.contains(years[0])
            && zip(years, years.dropFirst()).allSatisfy { $1 == $0 + 1 }
        return isTyped && !areYears
    }

    // MARK: JSON

    private mutating func readJSON() throws(LarderError) {
        var reader = JSONTextReader(file)
        while let line = try reader.next() {
            showProgress()
            do throws(LarderError) {
                let members = try reader.object(of: line)
                for key in members.keys.sorted() where !key.hasPrefix("@") {
                    try append(members[key] ?? .null, key, line: line.number)
                }
                rowCount += 1
                if rowCount == 1 { single = members }
            } catch {
                if skipsBadRows && error.code == .malformedValue { continue }
                throw error.at(line: line.number, of: file.name)
            }
            if rowCount > 1 { single = nil }
        }
        let list = single?.filter { $0.value.isListOfObjects }.keys.sorted().first
        single = nil
        guard let list else { return }
        throw LarderError(
            .malformedValue, "\(file.name) is one object, with objects in \"\(list)\"",
            hint: "jq '.[\(JSONValue.string(list).text)]' \(file.name) > NEWFILE makes a file of "
                + "them")
    }

    private mutating func append(
        _ json: JSONValue, _ key: String, line: Int
    ) throws(LarderError) {
        let index = positions[key] ?? columns.count
        if index == columns.count {
            guard index < CSVReader.fieldsMax else {
                throw LarderError(
                    .resourceExhausted,
                    "the objects have more than the maximum of \(CSVReader.fieldsMax) keys")
            }
            positions[key] = index
            let distinctMax = index < 1_000 ? ColumnFacts.distinctMax : 16
            columns.append(Column(name: key, facts: ColumnFacts(distinctMax: distinctMax)))
        }
        if case .string(let text) = json, format.nulls.contains(text) {
            return columns[index].facts.appendNil()
        }
        columns[index].facts.append(json, line: line)
    }

    // MARK: Names

    private mutating func nameProperties() throws(LarderError) {
        var names = InferredNames()
        let given = columns.enumerated().map { index, column in
            format.mapping["#\(index + 1)"] ?? format.mapping[column.name]
        }
        for name in given.compactMap(\.self) { names.reserve(name) }
        for index in columns.indices {
            let column = columns[index]
            // Columns of an export have its identifiers, and a column without name and values is
            // made by delimiters at the ends of the lines.
            let isLeftOut =
                column.name.isEmpty
                && (format.header != nil || column.facts.valueCount == 0)
                || column.name.hasPrefix("@")
            if let name = given[index] {
                columns[index].property = name
            } else if !isLeftOut {
                columns[index].property = names.property(column.name, position: index)
            }
        }
    }
}

extension JSONValue {
    /// Whether it is an array of several objects.
    fileprivate var isListOfObjects: Bool {
        guard case .array(let elements) = self, elements.count > 1 else { return false }
        return elements.allSatisfy { element in
            if case .object = element { true } else { false }
        }
    }
}
