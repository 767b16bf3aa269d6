import Glibc

/// The folders that systemd names in the environment of a service.
enum ServiceFolder {
    /// The first folder of a variable that has one folder, or a list separated by colons.
    static func first(of variable: String) -> String? {
        path(of: variable)?.split(separator: ":").first.map(String.init)
    }

    /// The value of a variable that begins with an absolute path.
    static func path(of variable: String) -> String? {
        guard let value = getenv(variable).map({ String(cString: $0) }), value.hasPrefix("/") else {
            return nil
        }
        return value
    }
}
