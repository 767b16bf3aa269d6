import Foundation

/// A headless Chromium, driven by the DevTools protocol over its pipe: JSON messages that end with
/// a zero byte. It ends with its last reference.
actor Browser {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let profile: TemporaryFolder
    private var nextNumber = 1
    private var replies: [Int: CheckedContinuation<Data, any Error>] = [:]
    private var received = Data()

    init() async throws {
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
    func open(_ url: URL) async throws -> Page {
        let target = try await call(Target.self, "Target.createTarget", ["url": url.absoluteString])
        let session = try await call(
            Session.self, "Target.attachToTarget",
            ["targetId": target.targetId, "flatten": true])
        return Page(browser: self, session: session.sessionId)
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
        throw BrowserError(description: failure.error?.message ?? "no result")
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
                throwing: BrowserError(description: "Chromium has ended; is it installed?"))
        }
        replies = [:]
    }
}

struct BrowserError: Error, CustomStringConvertible {
    var description: String
}

/// A page in a window.
struct Page: Sendable {
    let browser: Browser
    let session: String

    private struct Evaluation: Decodable {
        struct Value: Decodable {
            var value: String?
        }
        struct Exception: Decodable { var text: String }
        var result: Value
        var exceptionDetails: Exception?
    }

    /// The string that an expression is, or that its promise becomes.
    @discardableResult
    func evaluate(_ expression: String) async throws -> String {
        let evaluation = try await browser.call(
            Evaluation.self, "Runtime.evaluate",
            [
                "expression": "(async () => String(await (\(expression))))()",
                "awaitPromise": true, "returnByValue": true,
            ], session: session)
        if let exception = evaluation.exceptionDetails {
            throw BrowserError(description: "\(exception.text) in \(expression)")
        }
        return evaluation.result.value ?? ""
    }

    /// Waits until the page shows a text, at most 20 seconds. It may load another page meanwhile.
    func shows(_ text: String) async throws {
        let condition = "document.body?.innerText.includes(\(quoted(text)))"
        while !Task.isCancelled {
            do {
                let failure = try await evaluate(
                    """
                    new Promise(resolve => {
                      setTimeout(() => resolve("only: " + document.body.innerText), 20_000);
                      const check = () => {
                        if (!\(condition)) return;
                        observer.disconnect();
                        resolve("");
                      };
                      const observer = new MutationObserver(check);
                      observer.observe(
                        document, { childList: true, subtree: true, characterData: true });
                      check();
                    })
                    """)
                guard failure.isEmpty else {
                    throw BrowserError(
                        description: "The page does not show \"\(text)\", \(failure)")
                }
                return
            } catch let error as BrowserError where error.description.contains("navigated") {
                continue
            } catch let error as BrowserError where error.description.contains("context") {
                continue
            }
        }
    }

    /// The text of the first element that a selector finds.
    func text(of selector: String) async throws -> String {
        try await evaluate("document.querySelector(\(quoted(selector))).innerText")
    }

    func click(_ selector: String) async throws {
        try await evaluate("document.querySelector(\(quoted(selector))).click()")
    }

    /// Sets a field of a form.
    func type(_ text: String, into selector: String) async throws {
        try await evaluate("document.querySelector(\(quoted(selector))).value = \(quoted(text))")
    }

    private func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
