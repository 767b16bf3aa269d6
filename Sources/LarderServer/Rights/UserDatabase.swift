import Glibc

/// The system's database of users and groups. A look-up may block, for example for a directory
/// server.
package enum UserDatabase {
    private static let recordBytesMax = 1 << 20
    private static let groupsMax = 65_536

    /// The groups of a user; none if the system does not know the user.
    package static func groups(of user: UInt32) -> [UInt32] {
        withUser(user) { record in
            guard let name = record.pw_name else { return nil }
            var count = Int32(groupsMax)
            var groups = [gid_t](repeating: 0, count: groupsMax)
            guard getgrouplist(name, record.pw_gid, &groups, &count) >= 0 else { return nil }
            return Array(groups.prefix(Int(count)))
        } ?? []
    }

    /// The name of a user; nil if the system does not know the user.
    package static func name(of user: UInt32) -> String? {
        withUser(user) { record in
            guard let name = record.pw_name else { return nil }
            return String(cString: name)
        }
    }

    /// Reads the record of a user. Its texts exist until the closure returns.
    ///
    /// - Returns: nil if the system does not know the user.
    private static func withUser<Result>(
        _ user: UInt32, _ body: (passwd) -> Result?
    ) -> Result? {
        var buffer = [CChar](repeating: 0, count: recordBytesMax)
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress,
                getpwuid_r(user, &record, start, buffer.count, &found) == 0, found != nil
            else { return nil }
            return body(record)
        }
    }

    /// The name of a group; nil if the system does not know the group.
    package static func name(ofGroup group: UInt32) -> String? {
        var buffer = [CChar](repeating: 0, count: recordBytesMax)
        var record = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        return buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress,
                getgrgid_r(group, &record, start, buffer.count, &found) == 0, found != nil,
                let name = record.gr_name
            else { return nil }
            return String(cString: name)
        }
    }

    /// The user with a name; nil if there is none.
    package static func user(named name: String) -> UInt32? {
        var buffer = [CChar](repeating: 0, count: recordBytesMax)
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        let status = getpwnam_r(name, &record, &buffer, recordBytesMax, &found)
        return status == 0 && found != nil ? record.pw_uid : nil
    }

    /// The number of a group; nil if there is none with this name.
    package static func group(named name: String) -> UInt32? {
        var buffer = [CChar](repeating: 0, count: recordBytesMax)
        var record = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        let status = getgrnam_r(name, &record, &buffer, recordBytesMax, &found)
        return status == 0 && found != nil ? record.gr_gid : nil
    }
}
