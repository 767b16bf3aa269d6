internal import Foundation

/// What an interface without errors cannot say goes to standard error.
enum Log {
    static func write(_ message: String) {
        FileHandle.standardError.write(Data("CoreData: \(message)\n".utf8))
    }
}
