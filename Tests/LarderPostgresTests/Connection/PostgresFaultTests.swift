#if PostgreSQL
import Dispatch
import Foundation
import Glibc
import LarderPostgres
import TestSupport
import Testing

@Suite(
    "Faults of a connection to PostgreSQL",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.notInstalled)))
struct PostgresFaultTests {
    @Test("A wrong password is refused, and is in no error and no description")
    func wrongPassword() throws {
        let server = try PostgresServer.shared.get()
        let address = try server.address(password: "sesame-42")
        let error = #expect(throws: PostgresError.self) {
            try PostgresConnection.open(address, deadline: .soon)
        }
        #expect(error?.condition == .authenticationFailed)
        #expect(error?.sqlState == "28P01")
        #expect(error?.larderError.code == .permissionDenied)
        for text in ["\(address)", String(reflecting: address), "\(String(describing: error))"] {
            #expect(!text.contains("sesame"), "\(text)")
        }
    }

    @Test(
        "An address that libpq does not read is refused, and its error repeats nothing of it",
        arguments: [
            "postgresql://ann:pa%zzssword@host/db", "postgresql://ann:pass@word@host/db",
            "sesame", "host=h password='sesame", "postgresql://h/db?sesame=1", "password=a\u{0}b",
            "postgresql://ann:sesame@h:port:1/db", "postgresql://ann:12/sesame@host/db",
            "postgresql://h/db?schema=sesame/b", "postgresql://h/db?schema=",
            "postgresql://h/db?schema=pg_sesame", "postgresql://h/db?schema=Sesame",
            String(repeating: "x", count: 5_000),
        ])
    func malformedAddress(text: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresAddress(text) }
        #expect(error?.condition == .malformedAddress)
        let shown = "\(String(describing: error))\(String(describing: error?.larderError))"
        for part in ["sesame", "word@", "zzss"] { #expect(!shown.contains(part), "\(shown)") }
    }

    @Test("An address names the schema of the store, and says whether it has a password")
    func schemaName() throws {
        for (text, name, hasPassword) in [
            ("postgresql://h/db", "larder", false),
            ("postgresql://h/db?schema=students", "students", false),
            ("postgresql://ann:sesame@h/db?port=1&schema=a&schema=b-2&user=bob", "b-2", true),
            ("postgresql:///?service=school&schema=_a", "_a", false),
            ("host=h password=sesame", "larder", true),
        ] {
            let address = try PostgresAddress(text)
            #expect(address.schemaName == name && address.hasPassword == hasPassword, "\(text)")
            #expect(!address.description.contains("schema"))
        }
        #expect("\(try PostgresAddress("postgresql://h/db?port=1&schema=b"))" == "h:1/db")
    }

    @Test("A password that is missing is an error of the user, and not of the server")
    func missingPassword() throws {
        let folder = try PostgresServer.shared.get().folder
        let address = try PostgresAddress(
            "host='\(folder)' user=owner dbname=postgres passfile=/nowhere")
        let error = #expect(throws: PostgresError.self) {
            try PostgresConnection.open(address, deadline: .soon)
        }
        #expect(error?.condition == .authenticationFailed)
    }

    @Test("A database that does not exist is an error with its name")
    func missingDatabase() throws {
        let address = try PostgresServer.shared.get().address(database: "nowhere")
        let error = #expect(throws: PostgresError.self) {
            try PostgresConnection.open(address, deadline: .soon)
        }
        #expect(error?.condition == .noSuchDatabase)
        #expect(error?.message.contains("nowhere") == true)
    }

    @Test("A database whose text is not UTF-8 is refused")
    func wrongEncoding() throws {
        let server = try PostgresServer.shared.get()
        try server.connect().run(
            "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        let address = try server.address(database: "latin")
        let error = #expect(throws: PostgresError.self) {
            try PostgresConnection.open(address, deadline: .soon)
        }
        #expect(error?.condition == .wrongEncoding)
        #expect(error?.message.contains("LATIN1") == true)
    }

    @Test("A server that does not exist cannot be reached")
    func noServer() throws {
        let address = try PostgresAddress("host=/nowhere user=ann dbname=db")
        let error = #expect(throws: PostgresError.self) {
            try PostgresConnection.open(address, deadline: .soon)
        }
        #expect(error?.condition == .cannotConnect)
        #expect(error?.larderError.code == .unavailable)
    }

    @Test("A server that does not answer is waited for until the deadline")
    func silentServer() throws {
        let folder = try PostgresServer.shared.get().folder
        let path = "\(folder)/.s.PGSQL.9999"
        let descriptor = try boundSocket(SOCK_STREAM, at: path)
        defer {
            close(descriptor)
            unlink(path)
        }
        listen(descriptor, 1)
        let address = try PostgresAddress("host='\(folder)' port=9999 user=ann")
        let error = #expect(throws: PostgresError.self) {
            try PostgresConnection.open(address, deadline: .now + .milliseconds(100))
        }
        #expect(error?.condition == .deadlinePassed)
        #expect(error?.larderError.code == .timeout)
    }

    @Test("The settings of a connection come from the service file and the password file")
    func files() throws {
        let server = try PostgresServer.shared.get()
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "larder-service-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let passwords = "\(folder)/passwords"
        try "*:*:*:owner:\(server.password)\n".write(
            toFile: passwords, atomically: false, encoding: .utf8)
        chmod(passwords, 0o600)
        let services = "\(folder)/services"
        try """
        [school]
        host=\(server.folder)
        user=owner
        dbname=postgres
        passfile=\(passwords)
        """.write(toFile: services, atomically: false, encoding: .utf8)
        setenv("PGSERVICEFILE", services, 1)
        defer { unsetenv("PGSERVICEFILE") }
        let address = try PostgresAddress("service=school")
        #expect(address.description == " of service school")
        let connection = try PostgresConnection.open(address, deadline: .soon)
        #expect(try connection.run("SELECT current_user").rows == [[.text("owner")]])
    }

    @Test("A server that is killed ends the statement with a lost connection, and stays lost")
    func killedServer() throws {
        let server = try PostgresServer()
        let connection = try server.connect()
        let process = connection.serverProcess
        try connection.run("BEGIN")
        DispatchQueue.global().async {
            guard let other = try? server.connect() else { return }
            // Until the statement runs.
            _ = try? eventually {
                let text = "SELECT state FROM pg_stat_activity WHERE pid = $1"
                let rows = try other.run(text, .integer(Int64(process))).rows
                return rows == [[.text("active")]]
            }
            kill(process, SIGKILL)
        }
        let error = #expect(throws: PostgresError.self) {
            try connection.run("SELECT pg_sleep(100)")
        }
        #expect(error?.condition == .connectionLost)
        #expect(error?.larderError.code == .unavailable)
        #expect(!connection.isUsable)
        let again = #expect(throws: PostgresError.self) { try connection.run("SELECT 1") }
        #expect(again?.condition == .connectionLost)
        // The server starts again by itself.
        #expect(eventually { (try? server.connect()) != nil })
    }

    @Test("A server that is killed while a pipeline is sent ends it with a lost connection")
    func killedInPipeline() throws {
        let server = try PostgresServer()
        let connection = try server.connect()
        let long = String(repeating: "z", count: 100_000)
        let end = PostgresStatement("SELECT pg_terminate_backend(pg_backend_pid())")
        let statements = (0..<500).map { index in
            index == 250 ? end : PostgresStatement("SELECT $1", [.text(long)])
        }
        let error = #expect(throws: PostgresError.self) {
            try connection.run(statements, deadline: .soon)
        }
        #expect(error?.condition == .connectionLost)
        #expect(!connection.isUsable)
    }

    @Test("A statement that exceeds the server's limit of time is stopped, and the next one runs")
    func statementTimeout() throws {
        let connection = try PostgresServer.connection()
        try connection.run("SET statement_timeout = 50")
        let error = #expect(throws: PostgresError.self) {
            try connection.run("SELECT pg_sleep(100)")
        }
        #expect(error?.condition == .cancelled)
        #expect(try connection.run("SELECT 1::bigint").rows == [[.integer(1)]])
    }

    @Test("A statement that exceeds its deadline is stopped at the server")
    func deadline() throws {
        let connection = try PostgresServer.connection()
        let process = connection.serverProcess
        let error = #expect(throws: PostgresError.self) {
            try connection.run(
                PostgresStatement("SELECT pg_sleep(1000)"), deadline: .now + .milliseconds(50))
        }
        #expect(error?.condition == .deadlinePassed)
        let other = try PostgresServer.connection()
        let text = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND state = 'active'"
        let isStopped = try eventually {
            try other.run(text, .integer(Int64(process))).rows == [[.integer(0)]]
        }
        #expect(isStopped)
        guard connection.isUsable else { return }
        #expect(try connection.run("SELECT 1::bigint").rows == [[.integer(1)]])
    }

    @Test("A server that neither answers nor stops is given up shortly after the deadline")
    func frozenServer() throws {
        let connection = try PostgresServer.connection()
        let process = connection.serverProcess
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        let error = #expect(throws: PostgresError.self) {
            try connection.run(
                PostgresStatement("SELECT 1"), deadline: .now + .milliseconds(50))
        }
        #expect(error?.condition == .deadlinePassed)
        #expect(!connection.isUsable)
    }

    @Test("Another thread stops a statement, and a request without a statement stops nothing")
    func cancellation() throws {
        let connection = try PostgresServer.connection()
        let canceller = connection.canceller
        canceller.cancel()
        #expect(try connection.run("SELECT 1::bigint").rows == [[.integer(1)]])
        let process = connection.serverProcess
        DispatchQueue.global().async {
            guard let other = try? PostgresServer.connection() else { return }
            let text = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event = $2"
            _ = try? eventually {
                let values: [PostgresValue] = [.integer(Int64(process)), .text("PgSleep")]
                return try other.run(
                    PostgresStatement(text, values), deadline: .soon
                ).rows == [[.integer(1)]]
            }
            canceller.cancel()
        }
        let error = #expect(throws: PostgresError.self) {
            try connection.run("SELECT pg_sleep(100)")
        }
        #expect(error?.condition == .cancelled)
    }
}
#endif
