import BrowserViews
import HTMLPages
public import Hummingbird
import LarderClient

/// The pages of a store.
public func browseRouter(_ browse: Browse) -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: ErrorPages(browse: browse))
    router.add(middleware: Protection(browse: browse))
    router.get("browse.css") { _, _ in Response.text(browseStyle, "text/css") }
    router.get("browse.js") { _, _ in Response.text(browseScript, "text/javascript") }
    // The key is exchanged before a route is looked for.
    router.get("key") { _, _ in Response.see(Link.entities) }
    addEntities(to: router, browse)
    addRows(to: router, browse)
    addObjects(to: router, browse)
    addHistory(to: router, browse)
    addTools(to: router, browse)
    addChanges(to: router, browse)
    return router
}

private func addEntities(to router: Router<BasicRequestContext>, _ browse: Browse) {
    router.get("/") { _, _ in
        let schema = try await browse.client.schema()
        let list = entityList(schema.entities, server: browse.client.server)
        return Response.page(Page("Entities", in: .entities, list), of: browse)
    }
}

private func addRows(to router: Router<BasicRequestContext>, _ browse: Browse) {
    router.get("/rows/:entity") { request, context in
        let wanted = try RowsRequest(request, context)
        let schema = try await browse.client.schema()
        let reader = try RowsReader(wanted, in: schema)
        let names = reader.entity.attributes.prefix(200).map(\.name)
        func response(_ page: RowsPage, _ error: LarderError?) -> Response {
            let view = rowsView(
                page, error: error, isEditable: browse.isEditable && !reader.entity.isAbstract,
                names: names)
            let events = error == nil ? wanted.address(below: "/events/rows") : nil
            return .page(
                Page(wanted.entityName, in: .entities, events: events, view), of: browse,
                error == nil ? .ok : .badRequest)
        }
        do {
            return response(try await reader.page(browse.client), nil)
        } catch let error as LarderError where error.code.isOfQuery {
            return response(RowsPage(wanted, columns: [], rows: []), error)
        }
    }
    router.get("/count/:entity") { request, context in
        let wanted = try RowsRequest(request, context)
        let predicate = wanted.predicate.isEmpty ? nil : wanted.predicate
        let count = try? await browse.hastyClient.count(wanted.entityName, where: predicate)
        return Response.text(count.map(grouped) ?? "", "text/plain")
    }
    router.get("/events/rows/:entity") { request, context in
        let wanted = try RowsRequest(request, context)
        let schema = try await browse.client.schema()
        let reader = try RowsReader(wanted, in: schema)
        let shown = try await reader.page(browse.client).rows.map(\.object.identifier)
        let results = reader.changes(browse.client, shown: shown)
        return try browse.streams.response(to: request, of: results, browse) { _ in
            ServerSentEvent("rows", rowElements(try await reader.page(browse.client)))
        }
    }
}

private func addObjects(to router: Router<BasicRequestContext>, _ browse: Browse) {
    router.get("/object/:entity/:key") { _, context in
        let (identifier, schema) = try await browse.object(context)
        let page = try await ObjectReader(browse.client, schema, identifier).page()
        return Response.page(
            Page(
                page.object.text, in: .entities, events: "/events" + Link.object(identifier),
                objectView(page, isEditable: browse.isEditable)), of: browse)
    }
    router.get("/events/object/:entity/:key") { request, context in
        let (identifier, schema) = try await browse.object(context)
        let reader = try ObjectReader(browse.client, schema, identifier)
        return try browse.streams.response(to: request, of: reader.changes(), browse) { result in
            guard !result.rows.isEmpty else { return ServerSentEvent("gone", deletionNotice()) }
            do {
                return ServerSentEvent("object", objectValues(try await reader.page()))
            } catch BrowseError.unknownObject {
                return ServerSentEvent("gone", deletionNotice())
            }
        }
    }
    router.get("/value/:entity/:key/:property") { _, context in
        let (identifier, schema) = try await browse.object(context)
        let name = context.parameters.get("property") ?? ""
        guard
            case .attribute? = try schema.requiredEntity(identifier.entityName)
                .property(named: name)
        else { throw BrowseError.notAddressable }
        let records = try await browse.client.objects(for: [identifier], properties: [name])
        guard let value = records.first?[name] else {
            throw BrowseError.unknownObject(identifier.shortText)
        }
        let fileName = "\(identifier.entityName)-\(identifier.permanentKey ?? 0)-\(name)"
        guard case .data(let data) = value else {
            return Response.value(
                value.text.utf8, type: "text/plain; charset=utf-8", fileName: fileName + ".txt")
        }
        return Response.value(
            data, type: ImageType.of(data.prefix(16)) ?? "application/octet-stream",
            fileName: fileName)
    }
}

private func addHistory(to router: Router<BasicRequestContext>, _ browse: Browse) {
    @Sendable func page(
        _ request: Request, of object: PersistentIdentifier?
    ) async throws -> Response {
        let before = try Fields(encoded: request.uri.query ?? "")
            .number("before", max: Limits.transactionNumbers.upperBound)
        let history = try await HistoryReader(client: browse.client).page(
            of: object, before: before)
        let title = object.map { "History of \($0.shortText)" } ?? "History"
        return .page(Page(title, in: .history, historyView(history)), of: browse)
    }
    router.get("/history") { request, _ in try await page(request, of: nil) }
    router.get("/history/:entity/:key") { request, context in
        try await page(request, of: browse.object(context).identifier)
    }
}

extension RowsRequest {
    init(_ request: Request, _ context: BasicRequestContext) throws {
        let fields = try Fields(encoded: request.uri.query ?? "")
        self.init(entityName: context.parameters.get("entity") ?? "")
        predicate = fields["where"]
        sort = fields["sort"]
        after = fields["after"]
        offset = fields.number("offset", max: RowsRequest.countMax)
        precedingCount = fields.number("n", max: RowsRequest.countMax)
    }
}

extension Browse {
    /// The identifier in a path, and the schema in which its entity is.
    func object(
        _ context: BasicRequestContext
    ) async throws -> (identifier: PersistentIdentifier, schema: Schema) {
        let schema = try await client.schema()
        let entity = try schema.requiredEntity(context.parameters.get("entity") ?? "")
        let key = context.parameters.get("key") ?? ""
        guard
            let identifier = try? PersistentIdentifier(
                text: "\(entity.name)/\(key)", in: client.server.storeIdentifier),
            identifier.permanentKey != nil
        else { throw BrowseError.unknownObject("\(entity.name)/\(key.prefix(40))") }
        return (identifier, schema)
    }
}

extension ErrorCode {
    /// Whether an error is about what was typed as a query, and shown next to it.
    var isOfQuery: Bool {
        switch self {
        case .malformedPredicate, .unknownProperty, .wrongType, .unsupported, .malformedValue,
            .unknownEntity, .malformedIdentifier, .foreignIdentifier, .arithmeticOverflow,
            .resourceExhausted, .timeout:
            true
        default: false
        }
    }
}
