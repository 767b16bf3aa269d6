import FoundationEssentials

/// The resources that this process has in use, as far as a leak would show in them.
public struct ProcessResources {
    public let descriptors: Int
    public let threads: Int
    /// The folders of all processes.
    public let memoryFolders: Int

    public static func now() throws -> ProcessResources {
        func count(_ folder: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: folder).count
        }
        return ProcessResources(
            descriptors: try count("/proc/self/fd"), threads: try count("/proc/self/task"),
            memoryFolders: try count("/dev/shm"))
    }

    /// Waits, for minutes at most, until a number of uses has left less of each than one for every
    /// second use. Other tests have some in use at the same time, but not for ever as a leak does.
    ///
    /// - Returns: what is in use at the end of the wait if it is too much; nil otherwise.
    public func leak(after uses: Int) throws -> ProcessResources? {
        var last = self
        let isReleased = try eventually {
            last = try ProcessResources.now()
            return last.descriptors < descriptors + uses / 2 && last.threads < threads + uses / 2
                && last.memoryFolders < memoryFolders + uses / 2
        }
        return isReleased ? nil : last
    }
}
