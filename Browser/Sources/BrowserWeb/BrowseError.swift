import BrowserViews
import Hummingbird
import LarderClient

/// Why a request has no page of its own.
enum BrowseError: Error, Equatable {
    case foreignHost, foreignOrigin
    case noKey
    case usedKey
    case malformedForm, longForm
    case unknownPage
    case unknownEntity(String, hint: String?)
    case unknownObject(String)
    case readOnly
    case tooManyStreams
    case notAddressable

    var status: HTTPResponse.Status {
        switch self {
        case .foreignHost, .foreignOrigin, .noKey, .usedKey, .readOnly: .forbidden
        case .malformedForm: .badRequest
        case .longForm: .contentTooLarge
        case .unknownPage, .unknownEntity, .unknownObject, .notAddressable: .notFound
        case .tooManyStreams: .serviceUnavailable
        }
    }

    var page: Page {
        switch self {
        case .foreignHost:
            errorPage(
                "This address is not served", "The page was asked for by another name.",
                hint: "Open the address that larder browse prints, with localhost or 127.0.0.1.")
        case .foreignOrigin:
            errorPage(
                "This did not work", "A page of another site has sent the request.",
                hint: "Nothing was read or changed. Open the page from its own address.")
        case .noKey:
            errorPage(
                "A key is needed", "This browser has no key for the store.",
                hint: "Open the last address that larder browse has printed in the terminal. "
                    + "If it was started again, earlier addresses and windows do not work.")
        case .usedKey:
            errorPage(
                "The key cannot be used",
                "The key in the address is wrong, or it was used already: each opens one browser.",
                hint: "larder browse prints another address each time that one is used. "
                    + "Open the last one.")
        case .malformedForm:
            errorPage("This did not work", "The form or the address is not one of these pages.")
        case .longForm:
            errorPage(
                "This did not work",
                "The form is too long. It may have \(Fields.bytesMax >> 20) MiB.",
                hint: "Use larder update for longer values.")
        case .unknownPage: errorPage("This page does not exist", "The address leads to no page.")
        case .unknownEntity(let name, let hint):
            errorPage("This entity does not exist", "The schema has no entity \(name).", hint: hint)
        case .unknownObject(let text):
            errorPage(
                "This object does not exist", "\(text) does not exist.",
                hint: "It may have been deleted. Identifiers are never used again.")
        case .readOnly:
            errorPage(
                "The pages are read-only", "Nothing was changed.",
                hint: "Start larder browse with --edit to change objects.")
        case .tooManyStreams:
            errorPage(
                "Too many live pages",
                "At most \(LiveStreams.countMax) pages follow changes at a time.",
                hint: "Close some, and load this one again.")
        case .notAddressable:
            errorPage("This value does not exist", "The entity has no such attribute.")
        }
    }
}

extension LarderError {
    /// The status and the page of an error that no form shows.
    var response: (HTTPResponse.Status, Page) {
        switch code {
        case .connectionFailed, .unavailable:
            // The page is loaded again until the server is back.
            (
                .serviceUnavailable,
                errorPage(
                    "The server does not answer", sentence,
                    hint: "This page is loaded again every 2 seconds, until the server is back.",
                    refreshSeconds: 2)
            )
        case .timeout:
            (
                .gatewayTimeout,
                errorPage(
                    "This takes too long", sentence,
                    hint: "Ask for less, or start larder browse with a longer --query-time.")
            )
        case .objectNotFound, .unknownEntity, .foreignIdentifier, .tokenExpired:
            (.notFound, errorPage("This was not found", sentence, hint: hintSentence))
        case .permissionDenied, .readOnly:
            (.forbidden, errorPage("This is not allowed", sentence, hint: hintSentence))
        case .versionConflict, .conditionFailed:
            (.conflict, errorPage("Somebody was faster", sentence, hint: hintSentence))
        case .storageFailed, .storageFull, .indeterminate:
            (.internalServerError, errorPage("The store failed", sentence, hint: hintSentence))
        default: (.badRequest, errorPage("This did not work", sentence, hint: hintSentence))
        }
    }
}
