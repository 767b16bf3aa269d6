import LarderModel

/// The exit statuses of `larderd`: those of sysexits.h, and 130 after a second SIGINT.
enum ExitStatus {
    static let success: Int32 = 0
    static let failure: Int32 = 1
    static let usage: Int32 = 64
    static let dataError: Int32 = 65
    static let unavailable: Int32 = 69
    static let inputOutputError: Int32 = 74
    static let noPermission: Int32 = 77
    static let interrupted: Int32 = 130

    /// The status for an error that prevents the server from starting.
    static func startup(_ code: ErrorCode) -> Int32 {
        switch code {
        case .connectionFailed, .unavailable: unavailable
        case .storageFailed, .storageFull, .storeInUse, .notAStore, .storeTooNew: inputOutputError
        case .permissionDenied, .readOnly: noPermission
        default: dataError
        }
    }
}
