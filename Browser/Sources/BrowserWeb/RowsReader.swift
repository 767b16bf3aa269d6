import BrowserViews
import LarderClient

/// Reads a page of the rows of an entity.
struct RowsReader {
    static let rowsMax = 50
    /// The columns of a table; other properties are on the pages of the objects.
    static let columnsMax = 40
    static let charactersMax = 200
    /// The longest keyset cursor in an address, in bytes; longer ones are replaced by an offset.
    static let cursorBytesMax = 2_048

    let schema: Schema
    let entity: Entity
    let request: RowsRequest
    private let properties: [ReadProperty]
    private let columns: ReadColumns
    private let label: String?
    private let sortColumns: [String]

    init(_ request: RowsRequest, in schema: Schema) throws(BrowseError) {
        self.schema = schema
        self.request = request
        entity = try schema.requiredEntity(request.entityName)
        var columns = ReadColumns()
        let all =
            entity.attributes.map(Property.attribute)
            + entity.relationships.map(Property.relationship)
        properties = all.prefix(Self.columnsMax).map {
            schema.reading($0, characters: Self.charactersMax, &columns)
        }
        label = entity.labelAttribute.map { name in
            columns.add { QueryColumn(startOf: [name], characters: 80, name: $0) }
        }
        sortColumns =
            request.sort.isEmpty
            ? []
            : [columns.add { QueryColumn(SortKey(text: request.sort).term, name: $0) }]
        self.columns = columns
    }

    /// The fetch of the page.
    private func fetch(_ selection: Fetch.Selection) -> Fetch {
        Fetch(
            entity.name,
            where: request.predicate.isEmpty ? nil : .format(request.predicate),
            sort: request.sort.isEmpty ? [] : [SortKey(text: request.sort)], selection: selection)
    }

    private func parameters() throws(BrowseError) -> QueryParameters {
        var parameters = QueryParameters(
            argumentsAreText: true, assumesUTC: true, limit: Int64(Self.rowsMax) + 1)
        if !request.after.isEmpty {
            parameters.after = try cursor()
        } else if request.offset > 0 {
            parameters.offset = request.offset
        }
        return parameters
    }

    /// - Throws: `malformedPredicate` and other errors of the filter and the order.
    func page(_ client: StoreClient) async throws -> RowsPage {
        var rows: [ShownRow] = []
        var last: Record?
        var hasMore = false
        let stream = try await client.stream(
            .fetch(fetch(.columns(columns.columns))), try parameters())
        // Batch by batch, because values of JSON cannot be cut by the store.
        while let records = try await stream.nextRecords() {
            for record in records {
                guard rows.count < Self.rowsMax else {
                    hasMore = true
                    continue
                }
                rows.append(row(record))
                last = record
            }
        }
        let shown = properties.map { property in
            ShownColumn(
                name: property.name, sortText: property.sortText, isNumber: property.isNumber)
        }
        var page = RowsPage(request, columns: shown, rows: rows)
        page.hiddenColumnCount =
            entity.attributes.count + entity.relationships.count - properties.count
        page.previous = previous
        if hasMore, let last { page.next = next(after: last, count: rows.count) }
        return page
    }

    private func row(_ record: Record) -> ShownRow {
        let label = label.flatMap { record[$0] }?.text
        return ShownRow(
            object: ShownObject(record.identifier, label: label), version: record.version,
            values: properties.map { $0.shown(record, characters: Self.charactersMax) })
    }

    // MARK: - Pages

    private func next(after record: Record, count: Int) -> RowsRequest {
        var next = request
        next.precedingCount = min(
            request.precedingCount + Int64(count), RowsRequest.countMax)
        let values = sortColumns.map { record[$0] ?? .null } + [.object(record.identifier)]
        let cursor = JSONValue.array(
            values.map { $0.isNull ? .null : .string($0.text) })
        next.after = cursor.text
        next.offset = 0
        if next.after.utf8.count > Self.cursorBytesMax {
            next.after = ""
            next.offset = next.precedingCount
        }
        return next
    }

    /// The page before has no cursor that is known, so it is read by its offset.
    private var previous: RowsRequest? {
        guard request.precedingCount > 0 else { return nil }
        var previous = request
        previous.after = ""
        previous.precedingCount = max(0, request.precedingCount - Int64(Self.rowsMax))
        previous.offset = previous.precedingCount
        return previous
    }

    private func cursor() throws(BrowseError) -> [Value] {
        guard request.after.utf8.count <= Self.cursorBytesMax,
            case .array(let elements)? = try? JSONValue(parsing: request.after),
            elements.count == sortColumns.count + 1
        else { throw .malformedForm }
        var values: [Value] = []
        for element in elements {
            switch element {
            case .null: values.append(.null)
            case .string(let text): values.append(.string(text))
            default: throw .malformedForm
            }
        }
        return values
    }

    // MARK: - Changes

    /// The results that say when the page is to be read again.
    ///
    /// The first page is observed as it is. A later one has a cursor, which cannot be observed:
    /// its objects are, so that their changes and deletions are shown.
    func changes(_ client: StoreClient, shown: [PersistentIdentifier]) -> LiveResults {
        // Texts and data would be kept in memory. The version says when attributes change.
        let watched = properties.compactMap { property -> QueryColumn? in
            switch property.kind {
            case .attribute, .data: nil
            case .toMany: columns.columns.first { $0.name == property.column }
            case .toOne(let label):
                label.flatMap { name in columns.columns.first { $0.name == name } }
            }
        }
        let selection: Fetch.Selection = watched.isEmpty ? .identifiers : .columns(watched)
        let interval = Duration.milliseconds(100)
        if request.isFirstPage {
            return client.observe(
                fetch(selection),
                QueryParameters(
                    argumentsAreText: true, assumesUTC: true, limit: Int64(Self.rowsMax)),
                every: interval)
        }
        let isShown = Comparison(.object, .in, .argument(0))
        return client.observe(
            Fetch(entity.name, where: .tree(.comparison(isShown)), selection: selection),
            QueryParameters(arguments: [.list(shown.map { .object($0) })]), every: interval)
    }
}

extension ReadProperty {
    fileprivate var isNumber: Bool {
        switch kind {
        case .toMany: true
        case .attribute(let attribute): attribute.type.isNumeric
        case .data, .toOne: false
        }
    }

    /// The sort key that a click on the head of the column stands for.
    fileprivate var sortText: String? {
        switch kind {
        case .data: nil
        case .toMany: QueryExpression.collection(.count, .keyPath(.object, [name])).format
        case .attribute(let attribute) where attribute.type == .json: nil
        case .attribute, .toOne: QueryExpression.keyPath(.object, [name]).format
        }
    }
}

extension AttributeType {
    var isNumeric: Bool {
        switch self {
        case .int16, .int32, .int64, .float, .double, .decimal: true
        default: false
        }
    }
}
