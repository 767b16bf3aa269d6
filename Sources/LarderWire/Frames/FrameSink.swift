/// Where encoded frames go: a byte array, or a network buffer.
public protocol FrameSink {
    /// Appends `byteCount` bytes that the closure fills in, all of them.
    mutating func append(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void)
}

extension [UInt8]: FrameSink {
    public mutating func append(
        byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let start = count
        append(contentsOf: repeatElement(0, count: byteCount))
        withUnsafeMutableBytes { bytes in
            fill(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
    }
}
