public import Foundation
internal import LarderObjects

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
            : URL(
                filePath: StorePath.defaultStore(
                    program: groupContainer.identifier ?? StorePath.programName,
                    file: "\(name ?? "default").store"))
        self.init(
            name ?? "default", schema, place, isStoredInMemoryOnly, allowsSave, groupContainer,
            cloudKitDatabase)
    }

    /// - Parameter url: The store's file, or the socket of a server that serves the store. The
    ///   folders of a file are made if they are missing, unless `allowsSave` is false.
    public init(
        _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
        cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        self.init(
            name ?? url.deletingPathExtension().lastPathComponent, schema, url, false, allowsSave,
            .none, cloudKitDatabase)
    }

    private init(
        _ name: String, _ schema: Schema?, _ url: URL, _ isStoredInMemoryOnly: Bool,
        _ allowsSave: Bool, _ groupContainer: GroupContainer, _ database: CloudKitDatabase
    ) {
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
