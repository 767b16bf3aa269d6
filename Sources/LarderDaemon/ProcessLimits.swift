import Glibc

/// The resource limits of the process.
enum ProcessLimits {
    /// Raises the limit on open descriptors to the maximum that the system allows.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }
}
