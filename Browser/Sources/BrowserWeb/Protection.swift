import BrowserViews
import Hummingbird
import LarderClient
import Logging

/// Shows errors as pages.
struct ErrorPages: RouterMiddleware {
    let browse: Browse

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as BrowseError {
            return .page(error.page, of: browse, error.status)
        } catch let error as LarderError {
            let (status, page) = error.response
            return .page(page, of: browse, status)
        } catch let error as HTTPError where error.status == .notFound {
            return .page(BrowseError.unknownPage.page, of: browse, .notFound)
        } catch let error as HTTPError {
            let page = errorPage("This did not work", error.body ?? error.status.reasonPhrase)
            return .page(page, of: browse, error.status)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            context.logger.error("\(error)")
            let page = errorPage("This did not work", "The program failed; its log says why.")
            return .page(page, of: browse, .internalServerError)
        }
    }
}

/// Admits requests of a browser with a session, for the host that is served, from its own pages.
struct Protection: RouterMiddleware {
    /// The stylesheet and the script of the pages that say that a key is needed.
    private static let open: Set<String> = ["/browse.css", "/browse.js"]

    let browse: Browse

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        guard browse.serves(host: request.head.authority) else { throw BrowseError.foreignHost }
        if let origin = request.headers[.origin] {
            guard origin == "http://\(request.head.authority ?? "")" else {
                throw BrowseError.foreignOrigin
            }
        }
        if request.method != .get, let site = HeaderName.fetchSite,
            let sender = request.headers[site], sender != "same-origin"
        {
            throw BrowseError.foreignOrigin
        }
        if Self.open.contains(request.uri.path) { return try await next(request, context) }
        let isAdmitted = browse.access.admits(session: session(of: request))
        if request.uri.path == "/key" { return try exchangeKey(request, isAdmitted) }
        guard isAdmitted else { throw BrowseError.noKey }
        return try await next(request, context)
    }

    /// The address with the key leads to a page without it. A browser that opens it twice has a
    /// session already.
    private func exchangeKey(_ request: Request, _ isAdmitted: Bool) throws -> Response {
        if isAdmitted { return .see(Link.entities) }
        let key = try Fields(encoded: request.uri.query ?? "")["key"]
        guard let session = browse.access.session(for: key) else { throw BrowseError.usedKey }
        var response = Response.see(Link.entities)
        response.headers[.setCookie] =
            "\(browse.cookieName)=\(session); Path=/; HttpOnly; SameSite=Strict"
        return response
    }

    private func session(of request: Request) -> String? {
        for header in request.headers[values: .cookie] {
            for cookie in header.split(separator: ";") {
                let sides = cookie.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if sides.count == 2, sides[0] == browse.cookieName { return String(sides[1]) }
            }
        }
        return nil
    }
}
