internal import CLarderProto
internal import LarderModel

/// A part of a migration. Schemas are texts of schema files.
package enum MigrateRequest: Hashable, Sendable {
    /// Changes the store, or in a session its working copy.
    case migrate(to: String)
    /// Says what that would do, and changes nothing.
    case plan(to: String)
    /// Begins a session. There is a second reply when it has ended.
    case begin
    /// Stores the working copy, and ends the session.
    case commit
}

extension MigrateRequest {
    init(_ wire: Larder__V1__MigrateRequest) throws(LarderError) {
        let schema = try wire.schema.text("the schema", bytesMax: Limits.schemaBytesMax)
        switch wire.action {
        case LARDER__V1__MIGRATION_ACTION__MIGRATION_ACTION_MIGRATE: self = .migrate(to: schema)
        case LARDER__V1__MIGRATION_ACTION__MIGRATION_ACTION_PLAN: self = .plan(to: schema)
        case LARDER__V1__MIGRATION_ACTION__MIGRATION_ACTION_BEGIN where schema.isEmpty:
            self = .begin
        case LARDER__V1__MIGRATION_ACTION__MIGRATION_ACTION_COMMIT where schema.isEmpty:
            self = .commit
        case LARDER__V1__MIGRATION_ACTION__MIGRATION_ACTION_BEGIN,
            LARDER__V1__MIGRATION_ACTION__MIGRATION_ACTION_COMMIT:
            throw LarderError(
                .malformedMessage, "a migration session begins and commits without a schema")
        default:
            throw LarderError(
                .malformedMessage, "the migration has an unknown action (\(wire.action.rawValue))")
        }
    }
}

extension ProtobufWriter {
    func migrate(
        _ request: MigrateRequest
    ) -> UnsafeMutablePointer<Larder__V1__MigrateRequest> {
        let wire = make(larder__v1__migrate_request__init)
        switch request {
        case .migrate(let schema):
            wire.pointee.schema = text(schema)
        case .plan(let schema):
            wire.pointee.schema = text(schema)
            wire.pointee.action = LARDER__V1__MIGRATION_ACTION__MIGRATION_ACTION_PLAN
        case .begin:
            wire.pointee.action = LARDER__V1__MIGRATION_ACTION__MIGRATION_ACTION_BEGIN
        case .commit:
            wire.pointee.action = LARDER__V1__MIGRATION_ACTION__MIGRATION_ACTION_COMMIT
        }
        return wire
    }
}
