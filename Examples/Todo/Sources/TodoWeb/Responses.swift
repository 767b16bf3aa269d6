import HTMLPages
import Hummingbird
import TodoValues
import TodoViews

/// A request that no page of this program sends.
enum BadRequest: Error {
    case longForm, malformedForm, foreignOrigin
}

extension Response {
    static func text(_ text: String, _ type: String, _ status: HTTPResponse.Status = .ok) -> Self {
        Response(
            status: status,
            headers: [
                .contentType: "\(type); charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy: "default-src 'self'",
            ], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static func html(_ html: HTML, _ status: HTTPResponse.Status = .ok) -> Self {
        text(html.text, "text/html", status)
    }
}

/// Shows errors as pages.
struct ErrorPages: RouterMiddleware {
    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let (status, message) = Self.description(of: error)
            if status == .internalServerError { context.logger.error("\(error)") }
            return Response.html(errorPage(message), status)
        }
    }

    private static func description(of error: any Error) -> (HTTPResponse.Status, String) {
        switch error {
        case TodoError.emptyTitle: (.badRequest, "The title is empty. Write one.")
        case TodoError.longTitle(let maximum):
            (.badRequest, "The title is too long. It may have \(maximum) characters.")
        case TodoError.unknown(let kind):
            (.notFound, "There is no such \(kind.rawValue). Somebody may have deleted it.")
        case BadRequest.longForm:
            (.contentTooLarge, "The form is too long. It may have \(Form.bytesMax) bytes.")
        case BadRequest.malformedForm: (.badRequest, "The form is not one of this program.")
        case BadRequest.foreignOrigin:
            (.forbidden, "The form was sent by a page of another site.")
        case let error as HTTPError where error.status == .notFound:
            (.notFound, "There is no such page.")
        case let error as HTTPError: (error.status, error.body ?? error.status.reasonPhrase)
        default: (.internalServerError, "The program failed; its log says why.")
        }
    }
}

/// Refuses changes that a page of another site sends through the user's browser.
struct SameOrigin: RouterMiddleware {
    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        if request.method == .post, let origin = request.headers[.origin] {
            guard origin == "http://\(request.head.authority ?? "")" else {
                throw BadRequest.foreignOrigin
            }
        }
        return try await next(request, context)
    }
}
