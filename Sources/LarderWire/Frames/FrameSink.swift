/// The destination of encoded frames: a byte array, or a network buffer.
package protocol FrameSink {
    /// Appends `byteCount` bytes. The closure must write all of them; the memory is valid only
    /// during its call.
    mutating func append(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void)
}

extension [UInt8]: FrameSink {
    package mutating func append(
        byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        if isEmpty, capacity < byteCount {
            // Without clearing memory that is overwritten.
            self = [UInt8](unsafeUninitializedCapacity: byteCount) { memory, count in
                fill(UnsafeMutableRawBufferPointer(memory))
                count = byteCount
            }
            return
        }
        let start = count
        append(contentsOf: repeatElement(0, count: byteCount))
        withUnsafeMutableBytes { bytes in
            fill(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
    }
}
