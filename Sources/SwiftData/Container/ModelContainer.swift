import Foundation
internal import LarderModel
package import LarderObjects
internal import Synchronization

/// The stores of a schema, and the main context on them.
public class ModelContainer: Equatable, @unchecked Sendable {
    // Sendable unchecked: `core` is Sendable, and the main context is used on the main actor only.

    let core: ContainerCore
    private var main: ModelContext?
    private let assigned = Mutex<Set<ModelConfiguration>?>(nil)

    /// The entities and the stores.
    package final var objectModel: ObjectModel { core.model }

    public final var schema: Schema { core.schema }
    public final var migrationPlan: (any SchemaMigrationPlan.Type)? { core.migrationPlan }

    /// The configurations of the stores. Setting them opens no other stores.
    public var configurations: Set<ModelConfiguration> {
        get { assigned.withLock { $0 } ?? core.configurations }
        set { assigned.withLock { $0 = newValue } }
    }

    public convenience init(
        for forTypes: any PersistentModel.Type...,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(
            for: Schema(forTypes), migrationPlan: migrationPlan, configurations: configurations)
    }

    public convenience init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(
            for: givenSchema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens the stores of the configurations, or one at the default place.
    ///
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` with the reason.
    public init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        core = try ContainerCore(
            givenSchema, migrationPlan,
            configurations.isEmpty ? [ModelConfiguration()] : configurations)
        core.setContainer(self)
    }

    public convenience init(
        for forTypes: any PersistentModel.Type..., configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(for: Schema(forTypes), configurations: configurations)
    }

    /// Opens the stores of the configurations, of which some may be stores that others write.
    ///
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` with the reason; errors of the stores.
    public init(
        for givenSchema: Schema, configurations: [any DataStoreConfiguration]
    ) throws {
        core = try ContainerCore(
            givenSchema, nil, configurations.isEmpty ? [ModelConfiguration()] : configurations)
        core.setContainer(self)
    }

    /// A container on a store that is open.
    package convenience init(_ schema: Schema, _ store: any ObjectStore) throws {
        self.init(try ContainerCore(schema, store))
    }

    init(_ core: ContainerCore) {
        self.core = core
        core.setContainer(self)
    }

    public static func == (left: ModelContainer, right: ModelContainer) -> Bool {
        left.core === right.core
    }

    /// The context of the main actor, which saves by itself.
    @MainActor public var mainContext: ModelContext {
        if let main { return main }
        let context = core.mainContext
        main = context
        return context
    }

    /// Deletes all models, and the history before that.
    public func erase() throws { try core.erase() }

    @available(*, deprecated, renamed: "erase")
    public func deleteAllData() {
        do {
            try core.erase()
        } catch {
            core.log("the data is not deleted: \(String(safelyDescribing: error))")
        }
    }
}
