import BrowserViews
import HTMLPages
import Hummingbird
import LarderClient

/// The forms that change objects. Without `--edit` each of them is refused.
func addChanges(to router: Router<BasicRequestContext>, _ browse: Browse) {
    addForms(to: router, browse)
    router.get("/delete/:entity/:key") { _, context in
        try browse.requireEditing()
        let (identifier, schema) = try await browse.object(context)
        let reader = DeletionReader(client: browse.client, schema: schema)
        return try await deletionPage(reader.preview(of: identifier), browse)
    }
    router.post("/delete/:entity/:key") { request, context in
        try browse.requireEditing()
        let (identifier, schema) = try await browse.object(context)
        let version = try await Fields(of: request).number("version")
        do {
            try await browse.client.delete(identifier, ifVersion: version)
            return Response.see(Link.rows(of: identifier.entityName))
        } catch let error as LarderError
            where error.code == .deleteDenied || error.code == .versionConflict
        {
            let reader = DeletionReader(client: browse.client, schema: schema)
            var preview = try await reader.preview(of: identifier)
            let change =
                error.code == .versionConflict
                ? "The object was changed meanwhile. Delete it if you still want to."
                : error.sentence
            preview.message = change
            return deletionPage(preview, browse, .conflict)
        }
    }
}

private func addForms(to router: Router<BasicRequestContext>, _ browse: Browse) {
    @Sendable func page(
        _ form: EditForm, _ status: HTTPResponse.Status = .ok
    ) -> Response {
        let title = form.identifier.map { "Edit \($0.shortText)" } ?? "New \(form.entityName)"
        return .page(Page(title, in: .entities, editView(form)), of: browse, status)
    }
    @Sendable func save(_ editor: ObjectEditor, _ request: Request) async throws -> Response {
        var form = try await editor.form(with: Fields(of: request))
        if let identifier = try await editor.save(&form) {
            return .see(Link.object(identifier))
        }
        return page(form, form.isConflict ? .conflict : .badRequest)
    }
    router.get("/new/:entity") { _, context in
        try page(await browse.editor(ofNew: context).form())
    }
    router.post("/new/:entity") { request, context in
        try await save(browse.editor(ofNew: context), request)
    }
    router.get("/edit/:entity/:key") { _, context in
        try page(await browse.editor(context).form())
    }
    router.post("/edit/:entity/:key") { request, context in
        try await save(browse.editor(context), request)
    }
}

private func deletionPage(
    _ preview: DeletionPreview, _ browse: Browse, _ status: HTTPResponse.Status = .ok
) -> Response {
    .page(
        Page("Delete \(preview.object.text)", in: .entities, deletionView(preview)), of: browse,
        status)
}

extension Browse {
    fileprivate func requireEditing() throws(BrowseError) {
        guard isEditable else { throw .readOnly }
    }

    fileprivate func editor(_ context: BasicRequestContext) async throws -> ObjectEditor {
        try requireEditing()
        let (identifier, schema) = try await object(context)
        return ObjectEditor(
            client: client, schema: schema,
            entity: try schema.requiredEntity(identifier.entityName), identifier: identifier)
    }

    fileprivate func editor(ofNew context: BasicRequestContext) async throws -> ObjectEditor {
        try requireEditing()
        let schema = try await client.schema()
        let entity = try schema.requiredEntity(context.parameters.get("entity") ?? "")
        guard !entity.isAbstract else { throw BrowseError.unknownPage }
        return ObjectEditor(client: client, schema: schema, entity: entity, identifier: nil)
    }
}

extension Fields {
    /// - Throws: ``BrowseError/longForm``, ``BrowseError/malformedForm``.
    init(of request: Request) async throws {
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: Fields.bytesMax)
        } catch {
            // The only other reason is a lost connection, on which nobody reads the response.
            throw BrowseError.longForm
        }
        guard let text = String(validating: body.readableBytesView, as: UTF8.self) else {
            throw BrowseError.malformedForm
        }
        try self.init(encoded: text)
    }
}
