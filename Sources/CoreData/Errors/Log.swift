internal import Foundation

/// Messages of interfaces without errors, on standard error.
enum Log {
    static func write(_ message: String) {
        FileHandle.standardError.write(Data("CoreData: \(message)\n".utf8))
    }
}
