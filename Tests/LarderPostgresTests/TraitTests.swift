#if !PostgreSQL
import Glibc
import Testing

@Suite("A build without the trait PostgreSQL")
struct TraitTests {
    @Test("Without its trait nothing that is linked into the tests loads libpq")
    func libraries() {
        #expect(dlsym(nil, "sqlite3_libversion") != nil)
        #expect(dlsym(nil, "PQlibVersion") == nil)
    }
}
#endif
