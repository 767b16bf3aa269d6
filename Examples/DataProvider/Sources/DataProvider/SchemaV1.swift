public import Foundation
public import SwiftData

public enum SchemaV1: VersionedSchema {
    public static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    public static var models: [any PersistentModel.Type] { [Item.self] }
}

public typealias CurrentScheme = SchemaV1
public typealias Item = SchemaV1.Item

extension SchemaV1 {
    @Model public final class Item {
        public var timestamp: Date
        public var createTimestamp: Date

        public init(timestamp: Date) {
            self.timestamp = timestamp
            createTimestamp = .now
        }
    }
}
