/// The 64-bit checksum of an archive's files. It recognizes damage, and does not resist somebody
/// who changes a file on purpose.
///
/// Each word of eight bytes changes the state by a function that has an inverse. So two files that
/// differ in one word always have different checksums.
struct ArchiveChecksum: Hashable {
    private(set) var value: UInt64 = 0x6c61_7264_6172_6368

    /// - Parameter bytes: A multiple of eight bytes.
    mutating func add(_ bytes: [UInt8]) {
        precondition(bytes.count % 8 == 0, "records consist of words")
        var value = value
        bytes.withUnsafeBytes { buffer in
            for offset in stride(from: 0, to: buffer.count, by: 8) {
                value ^= buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
                value = value &* 0x9e37_79b9_7f4a_7c15
                value ^= value >> 29
            }
        }
        self.value = value
    }
}
