import Foundation

/// Messages that an interface without errors cannot return; they go to standard error.
enum Log {
    static func write(_ message: String) {
        FileHandle.standardError.write(Data("SwiftData: \(message)\n".utf8))
    }
}
