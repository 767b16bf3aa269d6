import Glibc
package import LarderModel

/// Reads and writes of a descriptor at offsets, which the system may divide or interrupt.
package enum FileOffsets {
    /// The bytes at an offset; fewer at the end of the file.
    package static func read(
        _ count: Int, at offset: Int, of descriptor: Int32
    ) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let part = pread(
                    descriptor, buffer.baseAddress.map { $0 + filled }, count - filled,
                    off_t(offset + filled))
                if part < 0, errno == EINTR { continue }
                if part < 0 { failure = SystemError(code: errno) }
                guard part > 0 else { return }
                filled += part
            }
        }
        if let failure { throw failure }
        return bytes
    }

    package static func write(
        _ bytes: [UInt8], at offset: Int, to descriptor: Int32
    ) throws(SystemError) {
        var failure: SystemError?
        bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let part = pwrite(
                    descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written,
                    off_t(offset + written))
                if part < 0, errno == EINTR { continue }
                guard part > 0 else {
                    failure = SystemError(code: part < 0 ? errno : ENOSPC)
                    return
                }
                written += part
            }
        }
        if let failure { throw failure }
    }
}
