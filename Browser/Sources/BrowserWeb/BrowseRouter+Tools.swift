import BrowserViews
import HTMLPages
import Hummingbird
import LarderClient

/// The pages that are about the store as a whole: its schema, queries, activity.
func addTools(to router: Router<BasicRequestContext>, _ browse: Browse) {
    router.get("/schema") { request, _ in
        let schema = try await browse.client.schema()
        let name = try Fields(encoded: request.uri.query ?? "")["entity"]
        let entity = name.isEmpty ? nil : try schema.requiredEntity(name)
        let title = entity.map { "Schema of \($0.name)" } ?? "Schema"
        return Response.page(
            Page(title, in: .schema, schemaView(schema, of: entity)), of: browse)
    }
    router.get("/query") { request, _ in
        let schema = try await browse.client.schema()
        let fields = try Fields(encoded: request.uri.query ?? "")
        var form = QueryForm(fields)
        if form.entityName.isEmpty { form.entityName = schema.entities.first?.name ?? "" }
        func response(_ result: QueryResult?, _ error: LarderError?) -> Response {
            .page(
                Page(
                    "Query", in: .query,
                    queryView(form, schema, result: result, error: error)), of: browse,
                error == nil ? .ok : .badRequest)
        }
        // The link from an entity names it alone: the form is shown, and nothing is run.
        guard fields.has("where") else { return response(nil, nil) }
        _ = try schema.requiredEntity(form.entityName)
        do {
            return response(
                try await QueryRunner(client: browse.client, form: form).result(schema), nil)
        } catch let error as LarderError where error.code.isOfQuery {
            return response(nil, error)
        }
    }
    router.get("/activity") { request, _ in
        let activity = try await browse.client.activity()
        let view = activityView(activity, try await browse.client.statistics())
        let isPart = try Fields(encoded: request.uri.query ?? "").has("part")
        if isPart { return Response.part(view) }
        return Response.page(
            Page("Activity", in: .activity, refreshAddress: "/activity?part=1", view), of: browse)
    }
}
