public import LarderModel

extension StoreClient {
    /// Makes a backup of the store while it is used: a file with the state after all commits of one
    /// moment, and with every commit that was acknowledged before this call.
    ///
    /// This process writes the file, with its own permissions, and readable by its user only. The
    /// file gets its name when it is complete and has been verified; it never replaces another
    /// one, and nothing remains of it after an error. It is a store itself; `Store.restore` and
    /// `larder restore` make a store of it whose later history differs from the original. Blocking;
    /// `Options.requestTimeout` limits the time without progress, and the server the whole time.
    ///
    /// - Parameter onProgress: Called from time to time with the number of bytes that were written,
    ///   and that of the whole file.
    /// - Throws: `fileExists`, `permissionDenied`, and `storageFull` if there is no room for the
    ///   file, or for a copy of the store where the server has the store; `resourceExhausted` if
    ///   too many backups are being made, `storageFailed` if the store is damaged, `unsupported` in
    ///   a snapshot.
    public func backup(
        to path: String, onProgress: (@Sendable (Int64, Int64) -> Void)? = nil
    ) throws(LarderError) -> StoreBackup {
        try BackupReceiver(session, path: path, onProgress: onProgress).receive()
    }

    /// The asynchronous form. It writes the file on a thread of its own.
    ///
    /// - Throws: what the blocking form throws, and `cancelled` if the task is cancelled.
    public func backup(
        to path: String, onProgress: (@Sendable (Int64, Int64) -> Void)? = nil
    ) async throws(LarderError) -> StoreBackup {
        let receiver = BackupReceiver(session, path: path, onProgress: onProgress)
        let result = await withTaskCancellationHandler {
            () async -> Result<StoreBackup, LarderError> in
            do throws(LarderError) {
                return .success(
                    try await BackgroundThread.run {
                        Result { () throws(LarderError) in try receiver.receive() }
                    })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            receiver.cancel()
        }
        return try result.get()
    }
}
