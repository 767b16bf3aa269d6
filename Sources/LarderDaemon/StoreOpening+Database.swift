import FoundationEssentials
import Glibc
import LarderModel
import LarderQuery

#if PostgreSQL
import LarderPostgres
#endif

extension StoreOpening {
    #if PostgreSQL
    /// The time between two attempts to reach the database.
    private static let retrySeconds: UInt32 = 1

    /// Opens the store in a database, and waits until the database can be reached.
    ///
    /// - Throws: ``UsageError`` for an address with a password, and errors of the store and of the
    ///   database that another attempt would have too.
    func openDatabase(_ text: String, _ schema: Schema?) throws -> Opened {
        let address = try Self.address(text)
        var isWaiting = false
        while true {
            do throws(LarderError) {
                let store = try PostgresStore.open(
                    address, schema: schema,
                    options: PostgresOptions(schemaName: address.schemaName))
                if isWaiting { logger.notice("the database \(address) can be reached") }
                return Opened(
                    store,
                    folder: ServiceFolder.first(of: "STATE_DIRECTORY")
                        ?? FileManager.default.temporaryDirectory.path)
            } catch {
                guard error.code == .unavailable else { throw error }
                if !isWaiting { logger.warning("waiting for the database: \(error.message)") }
                isWaiting = true
                report("waiting for the database: \(error.message)")
            }
            sleep(Self.retrySeconds)
        }
    }

    private static func address(_ text: String) throws -> PostgresAddress {
        let address: PostgresAddress
        do throws(PostgresError) {
            address = try PostgresAddress(text)
        } catch {
            throw error.larderError
        }
        guard !address.hasPassword else {
            throw UsageError(
                message: "--store has a password, which other users can see; write it to the "
                    + "password file of libpq (~/.pgpass)")
        }
        return address
    }

    #else
    func openDatabase(_ text: String, _ schema: Schema?) throws -> Opened {
        throw LarderError(
            .unsupported, "this larderd cannot keep a store in PostgreSQL",
            hint: "build it with the trait PostgreSQL")
    }
    #endif
}
