import CSQLite
import LarderSQL

extension Connection {
    /// Bytes of the database file as they are on disk, without the log. What is after the end of
    /// the file is zero.
    ///
    /// It uses SQLite's own descriptor, because closing another one would release the lock.
    func readFile(at offset: Int64, _ count: Int) throws(SQLError) -> [UInt8] {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let found = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard found == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else {
            throw SQLError(.other, "SQLite has no file for this connection")
        }
        var result = SQLITE_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            result = read(file, buffer.baseAddress, Int32(count), offset)
            filled = count
        }
        // A short read has filled the rest with zeros.
        guard result == SQLITE_OK || result == larder_sqlite3_short_read else {
            throw SQLError(handle, result)
        }
        return bytes
    }

    /// Copies pages from the log into the database file, as many as readers allow.
    ///
    /// - Returns: the number of frames of the log that are in the file now.
    func checkpointedFrames() throws(SQLError) -> Int {
        var (frames, checkpointed): (Int32, Int32) = (0, 0)
        let result = sqlite3_wal_checkpoint_v2(
            handle, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &checkpointed)
        guard result == SQLITE_OK else { throw SQLError(handle, result) }
        return Int(checkpointed)
    }
}
