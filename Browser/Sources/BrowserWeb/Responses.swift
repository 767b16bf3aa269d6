import BrowserViews
import HTMLPages
import Hummingbird

/// The name of a header.
typealias HeaderName = HTTPFields.Element.Name

extension HeaderName {
    static let referrerPolicy = HeaderName("Referrer-Policy")
    static let resourcePolicy = HeaderName("Cross-Origin-Resource-Policy")
    static let openerPolicy = HeaderName("Cross-Origin-Opener-Policy")
    static let fetchSite = HeaderName("Sec-Fetch-Site")
}

extension Response {
    /// Everything comes from this address, and nothing may be in a frame or run besides the one
    /// script.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
        connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """

    static func text(
        _ text: String, _ type: String, _ status: HTTPResponse.Status = .ok
    ) -> Response {
        var headers = protective
        headers[.contentType] = "\(type); charset=utf-8"
        headers[.contentSecurityPolicy] = policy
        return Response(
            status: status, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static func page(
        _ page: Page, of browse: Browse, _ status: HTTPResponse.Status = .ok
    ) -> Response {
        let html = page.html(store: browse.storeName, isEditable: browse.isEditable)
        return .text(html.text, "text/html", status)
    }

    /// A part of a page.
    static func part(_ html: HTML) -> Response { .text(html.text, "text/html") }

    static func see(_ address: String) -> Response {
        var headers = protective
        headers[.location] = address
        return Response(status: .seeOther, headers: headers)
    }

    /// The bytes of a value, which a browser does not interpret.
    static func value(_ bytes: some Sequence<UInt8>, type: String, fileName: String) -> Response {
        var headers = protective
        headers[.contentType] = type
        headers[.contentSecurityPolicy] = "default-src 'none'; sandbox"
        headers[.contentDisposition] =
            "\(type.hasPrefix("image/") ? "inline" : "attachment"); filename=\"\(fileName)\""
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Headers of every response.
    static var protective: HTTPFields {
        var headers: HTTPFields = [
            .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        ]
        // Without a referrer a browser would not say which origin has sent a form.
        let policies: [(HeaderName?, String)] = [
            (.referrerPolicy, "same-origin"), (.resourcePolicy, "same-origin"),
            (.openerPolicy, "same-origin"),
        ]
        for case (let name?, let value) in policies { headers[name] = value }
        return headers
    }
}
