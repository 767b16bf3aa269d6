import Testing

@testable import LarderStore

@Suite("The reserve of the disk")
struct DiskReserveTests {
    private let mebibyte = 1 << 20

    @Test("a transaction is committed if the reserve stays free after it is in log and file")
    func bounds() {
        let reserve = DiskReserve(freeBytes: 100 * mebibyte, diskBytes: 1 << 40)
        #expect(reserve.allows(addedBytes: 18 * mebibyte, reusedBytes: 0))
        #expect(!reserve.allows(addedBytes: 18 * mebibyte + 1, reusedBytes: 0))
    }

    @Test("a small disk has a small reserve")
    func smallDisk() {
        let reserve = DiskReserve(freeBytes: 2 * mebibyte, diskBytes: 64 * mebibyte)
        #expect(reserve.allows(addedBytes: 0, reusedBytes: 0))
        #expect(!reserve.allows(addedBytes: 1, reusedBytes: 0))
    }

    @Test("after deletions the free pages of the file can be used with half of the reserve")
    func reuse() {
        let reserve = DiskReserve(freeBytes: mebibyte, diskBytes: 64 * mebibyte)
        #expect(!reserve.allows(addedBytes: 0, reusedBytes: 2 * mebibyte - 1))
        #expect(reserve.allows(addedBytes: 0, reusedBytes: 2 * mebibyte))
        #expect(!reserve.allows(addedBytes: 1, reusedBytes: 2 * mebibyte))
    }

    @Test("a folder without a file system has no reserve")
    func unknown() {
        #expect(DiskReserve(in: "/nothing/there") == nil)
    }
}
