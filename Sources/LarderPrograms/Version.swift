/// The version of both programs.
package enum Version {
    package static let current = "0.1.0"

    /// The text that `--version` prints: the version of the program on the first line, then one
    /// line for each interface that other programs and files depend on.
    package static func text(
        of program: String, protocolVersion: UInt32, storeFormat: Int64, databaseVersion: String
    ) -> String {
        """
        \(program) \(current)
        protocol \(protocolVersion)
        store format \(storeFormat)
        SQLite \(databaseVersion)
        """
    }
}
