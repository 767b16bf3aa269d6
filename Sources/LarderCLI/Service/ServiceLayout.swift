import FoundationEssentials
import LarderModel

/// Where the files of services are, and what their units are called. The units in
/// `Packaging/systemd` contain the same paths.
struct ServiceLayout {
    /// Whether it is a service of the manager of one user, and not of the system.
    let isOfUser: Bool
    /// The folder that contains the files instead of `/`, without a final slash.
    let root: String
    private let home: String
    private let runtimeFolder: String

    /// - Throws: `storageFailed` if a service of the user has no home or runtime folder.
    init(isOfUser: Bool, root: String?) throws(LarderError) {
        self.isOfUser = isOfUser
        var root = root ?? ""
        while root.hasSuffix("/") { root.removeLast() }
        self.root = root
        (home, runtimeFolder) =
            isOfUser ? (try Self.folder("HOME"), try Self.folder("XDG_RUNTIME_DIR")) : ("", "/run")
    }

    private static func folder(_ variable: String) throws(LarderError) -> String {
        guard let folder = Environment.value(variable), folder.hasPrefix("/") else {
            throw LarderError(
                .storageFailed, "\(variable) does not name a folder",
                hint: "log in as the user who runs the service")
        }
        return folder
    }

    /// The folder of configurations, schemas and policies.
    var configurationFolder: String { isOfUser ? "\(home)/.config/larder" : "\(root)/etc/larder" }
    var storeFolder: String { isOfUser ? "\(home)/.local/share/larder" : "\(root)/var/lib/larder" }
    private var unitFolder: String {
        isOfUser ? "\(home)/.config/systemd/user" : "\(root)/etc/systemd/system"
    }

    func schemaFile(_ name: String) -> String { "\(configurationFolder)/\(name).json" }
    func policyFile(_ name: String) -> String { "\(configurationFolder)/\(name).policy" }
    func configurationFile(_ name: String) -> String { "\(configurationFolder)/\(name).toml" }
    func storeFile(_ name: String) -> String { "\(storeFolder)/\(name).store" }
    /// The path that a file has in the system whose files are changed.
    func pathInSystem(_ path: String) -> String { String(path.dropFirst(root.count)) }
    func socket(_ name: String) -> String { "\(runtimeFolder)/larder/\(name).sock" }

    /// The file with the settings of one unit, which `larder service` writes and removes.
    func settings(of unit: String) -> String { "\(unitFolder)/\(unit).d/larder-service.conf" }

    static func socketUnit(_ name: String) -> String { "larder@\(name).socket" }
    static func serviceUnit(_ name: String) -> String { "larder@\(name).service" }
    static func backupService(_ name: String) -> String { "larder-backup@\(name).service" }
    static func backupTimer(_ name: String) -> String { "larder-backup@\(name).timer" }

    /// The names of the services that have a configuration, in alphabetical order.
    func names() -> [String] {
        let ending = ".toml"
        let files =
            (try? FileManager.default.contentsOfDirectory(atPath: configurationFolder)) ?? []
        return files.filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }
            .filter { ServiceName(argument: $0) != nil }.sorted()
    }

    // MARK: systemctl

    /// The command that talks to the manager, or that edits the links to units under the root.
    func systemctl(_ arguments: [String]) -> [String] {
        let scope = isOfUser ? ["--user"] : root.isEmpty ? [] : ["--root=\(root)"]
        return ["systemctl"] + scope + arguments
    }

    /// Whether a running manager starts and stops the units.
    var hasManager: Bool { root.isEmpty }

    /// - Throws: `connectionFailed` if there is no manager to talk to; `permissionDenied` if the
    ///   user may not create services.
    func checkAccess(user: UInt32) throws(LarderError) {
        guard hasManager else { return }
        if !isOfUser, user != 0 {
            throw LarderError(
                .permissionDenied, "a service of the system can only be changed by root",
                hint: "run the command with sudo, or pass --user for a service of your own")
        }
        let folder = isOfUser ? "\(runtimeFolder)/systemd" : "/run/systemd/system"
        guard FileManager.default.fileExists(atPath: folder) else {
            throw LarderError(
                .connectionFailed, "systemd does not run here: there is no \(folder)",
                hint: "start larderd --store FILE --schema FILE --socket PATH another way")
        }
    }
}
