public import Foundation

/// A headless Chromium for tests, driven by the DevTools protocol over its pipe: JSON messages that
/// end with a zero byte. It ends with its last reference.
public actor Chromium {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let profile: TemporaryFolder
    private var nextNumber = 1
    private var replies: [Int: CheckedContinuation<Data, any Error>] = [:]
    private var received = Data()

    public init() async throws {
        profile = try TemporaryFolder()
        // The browser reads descriptor 3 and writes descriptor 4. The pages are our own, and the
        // sandbox of a browser needs rights that a container may not give.
        let command = """
            exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
            --remote-debugging-pipe --user-data-dir="$0" about:blank \
            3<&0 4>&1 </dev/null >/dev/null 2>&1
            """
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command, profile.url.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let chunks = output.chunks()
        Task { [weak self] in
            for await data in chunks { await self?.receive(data) }
            await self?.end()
        }
    }

    /// Waits, because the browser writes to its profile until it ends.
    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// Opens a window that shows a page.
    public func open(_ url: URL) async throws -> Window {
        // A tab behind another one would be hidden.
        let target = try await call(
            Target.self, "Target.createTarget", ["url": url.absoluteString, "newWindow": true])
        let session = try await call(
            Session.self, "Target.attachToTarget",
            ["targetId": target.targetId, "flatten": true])
        return Window(browser: self, session: session.sessionId)
    }

    private struct Target: Decodable { var targetId: String }
    private struct Session: Decodable { var sessionId: String }
    private struct Reply<Result: Decodable>: Decodable { var result: Result? }
    private struct Failure: Decodable {
        struct Description: Decodable { var message: String }
        var id: Int?
        var error: Description?
    }

    /// Calls a method of the protocol.
    func call<Result: Decodable & Sendable>(
        _ type: Result.Type, _ method: String, _ parameters: sending [String: Any],
        session: String? = nil
    ) async throws -> Result {
        let number = nextNumber
        nextNumber += 1
        var message: [String: Any] = ["id": number, "method": method, "params": parameters]
        message["sessionId"] = session
        let data = try JSONSerialization.data(withJSONObject: message) + [0]
        let reply = try await withCheckedThrowingContinuation { continuation in
            replies[number] = continuation
            do {
                try input.fileHandleForWriting.write(contentsOf: data)
            } catch {
                replies.removeValue(forKey: number)?.resume(throwing: error)
            }
        }
        if let result = try JSONDecoder().decode(Reply<Result>.self, from: reply).result {
            return result
        }
        let failure = try JSONDecoder().decode(Failure.self, from: reply)
        throw ChromiumError(description: failure.error?.message ?? "no result")
    }

    private func receive(_ data: Data) {
        received += data
        while let end = received.firstIndex(of: 0) {
            let message = Data(received[received.startIndex..<end])
            received.removeSubrange(...end)
            guard let number = try? JSONDecoder().decode(Failure.self, from: message).id else {
                continue
            }
            replies.removeValue(forKey: number)?.resume(returning: message)
        }
    }

    private func end() {
        for reply in replies.values {
            reply.resume(
                throwing: ChromiumError(description: "Chromium has ended; is it installed?"))
        }
        replies = [:]
    }
}

public struct ChromiumError: Error, CustomStringConvertible {
    public var description: String

    public init(description: String) { self.description = description }

    /// Whether the page was replaced by another one meanwhile.
    var isOfNavigation: Bool {
        description.contains("navigated") || description.contains("context")
    }
}

extension Pipe {
    /// The data that the other end writes, until it is closed.
    public func chunks() -> AsyncStream<Data> {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty {
                handle.readabilityHandler = nil
                continuation.finish()
            } else {
                continuation.yield(data)
            }
        }
        return stream
    }

    /// The text before the first newline, or before the end.
    public func firstLine() async -> String {
        var text = ""
        for await data in chunks() {
            text += String(decoding: data, as: UTF8.self)
            if text.contains("\n") { break }
        }
        return String(text.prefix { !$0.isNewline })
    }
}

/// A folder that is deleted with its last reference.
public final class TemporaryFolder: Sendable {
    public let url = FileManager.default.temporaryDirectory.appending(path: "pages-\(UUID())")

    public init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
