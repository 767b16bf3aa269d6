import Testing

@testable import LarderPostgres

@Suite("Errors of PostgreSQL")
struct PostgresErrorTests {
    @Test(
        "A code has its own condition, or else that of its class",
        arguments: [
            ("40001", .serializationFailed), ("40P01", .serializationFailed),
            ("23505", .uniquenessViolated), ("22003", .outOfRange), ("22012", .statement),
            ("42P01", .schemaChanged), ("42601", .statement), ("53100", .full),
            ("53400", .outOfMemory), ("XX001", .corrupt), ("57014", .cancelled),
            ("08006", .connectionLost), ("ZZ999", .other), ("", .other),
        ] as [(String, PostgresError.Condition)])
    func conditions(code: String, condition: PostgresError.Condition) {
        #expect(PostgresError(sqlState: code, "").condition == condition)
    }

    @Test("The code and the sentence of a failed connection are read in any language")
    func connectionTexts() {
        let german = """
            Verbindung zum Server auf Socket »/run/.s.PGSQL.5432« fehlgeschlagen: FATAL:  28P01: \
            Passwort-Authentifizierung für Benutzer »ann« fehlgeschlagen
            ORT:  auth_failed, auth.c:330
            """
        #expect(ErrorText(german).sqlState == "28P01")
        #expect(
            ErrorText(german).message
                == "Passwort-Authentifizierung für Benutzer »ann« fehlgeschlagen")
        let local = "connection to server at \"h\" failed: Connection refused\n\tIs it running?"
        #expect(ErrorText(local).sqlState == "")
        #expect(
            ErrorText(local).message == "connection to server at \"h\" failed: Connection refused")
        #expect(ErrorText("").message == "the connection was closed")
        #expect(ErrorText("FATAL:  abcde: x").sqlState == "")
    }
}
