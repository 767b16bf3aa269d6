public import Foundation

/// Where the models of a schema are stored.
public struct ModelConfiguration: Identifiable, Hashable, Sendable, CustomDebugStringConvertible {
    public typealias ID = URL

    /// Accepted for programs that are written for CloudKit, and without effect.
    public struct CloudKitDatabase: Hashable, Sendable {
        let name: String?
        public static var automatic: CloudKitDatabase { CloudKitDatabase(name: nil) }
        public static var none: CloudKitDatabase { CloudKitDatabase(name: nil) }
        public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
            CloudKitDatabase(name: privateDBName)
        }
    }

    /// Accepted for programs that are written for app groups. A group's store is in a folder with
    /// the name of the group.
    public struct GroupContainer: Hashable, Sendable {
        let identifier: String?
        public static var automatic: GroupContainer { GroupContainer(identifier: nil) }
        public static var none: GroupContainer { GroupContainer(identifier: nil) }
        public static func identifier(_ groupName: String) -> GroupContainer {
            GroupContainer(identifier: groupName)
        }
    }

    /// The store's file, or the socket of a server.
    public let url: URL
    public let name: String
    public let groupAppContainerIdentifier: String?
    public let cloudKitContainerIdentifier: String?
    public let groupContainer: GroupContainer
    public let cloudKitDatabase: CloudKitDatabase
    /// The types in the store; nil for all of the container.
    public var schema: Schema?
    public let allowsSave: Bool
    public let isStoredInMemoryOnly: Bool
    /// Whether the place is the program's own folder, which is created if it is missing.
    let createsFolder: Bool

    public var id: URL { url }

    public init(isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    public init(
        for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false
    ) {
        self.init(nil, schema: Schema(forTypes), isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// - Parameter name: The name of the store's file without its extension.
    public init(
        _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false,
        allowsSave: Bool = true, groupContainer: GroupContainer = .automatic,
        cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        let place =
            isStoredInMemoryOnly
            ? URL(filePath: "/dev/null")
            : DefaultPlace.url(name: name ?? "default", group: groupContainer.identifier)
        self.init(
            name ?? "default", schema, place, isStoredInMemoryOnly, allowsSave, groupContainer,
            cloudKitDatabase, createsFolder: !isStoredInMemoryOnly)
    }

    /// - Parameter url: The store's file, or the socket of a server that serves the store.
    public init(
        _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
        cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        self.init(
            name ?? url.deletingPathExtension().lastPathComponent, schema, url, false, allowsSave,
            .none, cloudKitDatabase, createsFolder: false)
    }

    private init(
        _ name: String, _ schema: Schema?, _ url: URL, _ isStoredInMemoryOnly: Bool,
        _ allowsSave: Bool, _ groupContainer: GroupContainer, _ database: CloudKitDatabase,
        createsFolder: Bool
    ) {
        self.createsFolder = createsFolder
        self.name = name
        self.schema = schema
        self.url = url
        self.isStoredInMemoryOnly = isStoredInMemoryOnly
        self.allowsSave = allowsSave
        self.groupContainer = groupContainer
        groupAppContainerIdentifier = groupContainer.identifier
        cloudKitDatabase = database
        cloudKitContainerIdentifier = database.name
    }

    public var debugDescription: String {
        let place = isStoredInMemoryOnly ? "in memory" : url.path
        return "ModelConfiguration(\(name), \(place)\(allowsSave ? "" : ", read only"))"
    }

    /// - Throws: ``SwiftDataError/configurationFileNameTooLong``,
    ///   ``SwiftDataError/configurationFileNameContainsInvalidCharacters``.
    public func validate() throws {
        guard !isStoredInMemoryOnly else { return }
        let file = url.lastPathComponent
        guard file.utf8.count <= 255 else {
            throw SwiftDataError.configurationFileNameTooLong.explained(
                "the name of the store's file has \(file.utf8.count) bytes; at most 255 are allowed"
            )
        }
        guard !name.contains("/"), !name.contains("\0"), !name.isEmpty, name != "..", name != "."
        else {
            throw SwiftDataError.configurationFileNameContainsInvalidCharacters.explained(
                "`\(name)` cannot be the name of a file")
        }
    }
}

/// The folder of a program's data, as the XDG base directory specification says.
enum DefaultPlace {
    static func url(name: String, group: String?) -> URL {
        folder.appending(path: group ?? program).appending(path: "\(name).store")
    }

    private static var folder: URL {
        let environment = ProcessInfo.processInfo.environment
        // Relative paths are to be ignored.
        if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            return URL(filePath: path)
        }
        return FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
    }

    static func createFolder(of url: URL) throws {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }

    static var program: String {
        let path = CommandLine.arguments.first ?? ""
        return path.split(separator: "/").last.map(String.init) ?? "larder"
    }
}
