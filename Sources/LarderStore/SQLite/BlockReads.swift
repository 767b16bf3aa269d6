import CSQLite

/// Reads of a connection's file by blocks of many pages.
///
/// SQLite reads each page by a system call, most of whose time is not the copy of the page. The
/// pages of a scan mostly follow each other in the file: after some that do, a block is read by one
/// call, and the next pages are copied from it.
///
/// A block is discarded when the connection begins or ends a snapshot. In between, no page changes
/// that the connection reads from the file: a checkpoint writes only pages that every reader's
/// snapshot has in the log.
///
/// SQLite calls these functions on the connection's thread. It has a pointer to this memory, which
/// is deallocated when SQLite closes the file.
private struct BlockReads {
    /// The functions of the file, as SQLite calls them. It must be the first property.
    private var methods: sqlite3_io_methods
    private let original: UnsafePointer<sqlite3_io_methods>
    private var isInSnapshot = false
    private var lastOffset: Int64 = 0
    /// The number of pages in a row, each a little after the page before.
    private var forwardSteps = 0
    private var block: UnsafeMutableRawPointer?
    /// The part of the file that the block has.
    private var range: Range<Int64> = 0..<0

    /// Larger blocks leave the processor's cache before their last page is copied.
    private static let blockBytes = 64 << 10
    /// A look-up reads no more pages than this.
    private static let forwardStepsMin = 4
    /// A few pages of other tables may be between two pages of a table.
    private static let skippedPagesMax: Int64 = 3

    init(_ original: UnsafePointer<sqlite3_io_methods>) {
        self.original = original
        methods = original.pointee
        methods.xRead = { file, buffer, count, offset in
            reads(of: file).pointee.read(file, buffer, Int(count), at: offset)
        }
        methods.xShmLock = { file, offset, count, flags in
            reads(of: file).pointee.lock(file, offset, count, flags)
        }
        methods.xClose = { file in
            let reads = reads(of: file)
            reads.pointee.discardBlock()
            let original = reads.pointee.original
            file?.pointee.pMethods = original
            reads.deinitialize(count: 1)
            reads.deallocate()
            return original.pointee.xClose(file)
        }
    }

    mutating func read(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ buffer: UnsafeMutableRawPointer?,
        _ count: Int, at offset: Int64
    ) -> Int32 {
        let part = offset..<offset + Int64(count)
        if !contains(part) {
            countStep(to: part)
            if isInSnapshot, forwardSteps >= Self.forwardStepsMin { readBlock(file, at: offset) }
        }
        lastOffset = offset
        guard contains(part), let block, let buffer else {
            return original.pointee.xRead(file, buffer, Int32(count), offset)
        }
        buffer.copyMemory(from: block + Int(offset - range.lowerBound), byteCount: count)
        return SQLITE_OK
    }

    private func contains(_ part: Range<Int64>) -> Bool {
        part.lowerBound >= range.lowerBound && part.upperBound <= range.upperBound
    }

    private mutating func countStep(to part: Range<Int64>) {
        let pageBytes = part.upperBound - part.lowerBound
        let isForward =
            part.lowerBound > lastOffset
            && part.lowerBound <= lastOffset + (Self.skippedPagesMax + 1) * pageBytes
        forwardSteps = isForward ? forwardSteps + 1 : 0
    }

    /// Leaves no block if it cannot be read completely, as at the end of the file: the read of the
    /// page then reports what is wrong.
    private mutating func readBlock(_ file: UnsafeMutablePointer<sqlite3_file>?, at offset: Int64) {
        let block = block ?? .allocate(byteCount: Self.blockBytes, alignment: 16)
        self.block = block
        let result = original.pointee.xRead(file, block, Int32(Self.blockBytes), offset)
        if result == SQLITE_OK {
            range = offset..<offset + Int64(Self.blockBytes)
        } else {
            discardBlock()
            forwardSteps = 0
        }
    }

    private mutating func lock(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ offset: Int32, _ count: Int32, _ flags: Int32
    ) -> Int32 {
        discardBlock()
        let result = original.pointee.xShmLock(file, offset, count, flags)
        isInSnapshot = result == SQLITE_OK && flags == SQLITE_SHM_LOCK | SQLITE_SHM_SHARED
        return result
    }

    private mutating func discardBlock() {
        block?.deallocate()
        block = nil
        range = 0..<0
        forwardSteps = 0
    }
}

extension Connection {
    /// Reads the file by blocks from now on; see ``BlockReads``. Only for a connection that does
    /// not write, to a file with a log.
    func readBlocks() {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let found = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard found == SQLITE_OK, let file, let methods = file.pointee.pMethods else { return }
        let reads = UnsafeMutablePointer<BlockReads>.allocate(capacity: 1)
        reads.initialize(to: BlockReads(methods))
        file.pointee.pMethods = UnsafePointer(
            UnsafeMutableRawPointer(reads).assumingMemoryBound(to: sqlite3_io_methods.self))
    }
}

private func reads(
    of file: UnsafeMutablePointer<sqlite3_file>?
) -> UnsafeMutablePointer<BlockReads> {
    guard let methods = file?.pointee.pMethods else {
        preconditionFailure("SQLite passes the file that it opened")
    }
    return UnsafeMutableRawPointer(mutating: methods).assumingMemoryBound(to: BlockReads.self)
}
