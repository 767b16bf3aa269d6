/// A type of PostgreSQL, by its number in the catalog, which never changes for the types below.
package struct PostgresType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// In the description of a statement, a parameter whose type follows from the statement.
    package static let inferred = PostgresType(rawValue: 0)
    package static let bool = PostgresType(rawValue: 16)
    package static let bytea = PostgresType(rawValue: 17)
    package static let bigint = PostgresType(rawValue: 20)
    package static let smallint = PostgresType(rawValue: 21)
    package static let integer = PostgresType(rawValue: 23)
    package static let text = PostgresType(rawValue: 25)
    package static let json = PostgresType(rawValue: 114)
    package static let real = PostgresType(rawValue: 700)
    package static let double = PostgresType(rawValue: 701)
    package static let unknown = PostgresType(rawValue: 705)
    package static let varchar = PostgresType(rawValue: 1043)
    package static let name = PostgresType(rawValue: 19)
    package static let timestamptz = PostgresType(rawValue: 1184)
    package static let numeric = PostgresType(rawValue: 1700)
    package static let void = PostgresType(rawValue: 2278)
    package static let uuid = PostgresType(rawValue: 2950)
    package static let jsonb = PostgresType(rawValue: 3802)
    package static let bigints = PostgresType(rawValue: 1016)
}
