import Glibc
import LarderClient
import Testing

/// Runs the closure in this number of threads at once, and blocks until all have ended.
func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    var threads: [pthread_t] = []
    for number in 0..<count {
        let work = Unmanaged.passRetained(ThreadWork(number, body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { work in
                if let work { Unmanaged<ThreadWork>.fromOpaque(work).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        if status == 0 {
            threads.append(thread)
        } else {
            work.release()
            Issue.record("the system cannot create a thread")
        }
    }
    for thread in threads { pthread_join(thread, nil) }
}

private final class ThreadWork {
    private let number: Int
    private let body: @Sendable (Int) throws -> Void

    init(_ number: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
        self.number = number
        self.body = body
    }

    func run() {
        do { try body(number) } catch { Issue.record(error) }
    }
}

/// The error that the call throws; nil if it throws none.
func failure(of call: () throws -> Void) -> LarderError? {
    do {
        try call()
        return nil
    } catch let error as LarderError {
        return error
    } catch {
        Issue.record(error)
        return nil
    }
}
