import Glibc

/// The names of users of this machine.
enum UserName {
    /// The name of a user, or the number if the user has no name.
    static func of(_ identifier: UInt32) -> String {
        guard let name = getpwuid(identifier)?.pointee.pw_name else { return "\(identifier)" }
        return String(cString: name)
    }
}
