public import Foundation

/// A window of a browser, and the page in it.
public struct Window: Sendable {
    let browser: Chromium
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
    public func evaluate(_ expression: String) async throws -> String {
        let evaluation = try await browser.call(
            Evaluation.self, "Runtime.evaluate",
            [
                "expression": "(async () => String(await (\(expression))))()",
                "awaitPromise": true, "returnByValue": true,
            ], session: session)
        if let exception = evaluation.exceptionDetails {
            throw ChromiumError(description: "\(exception.text) in \(expression)")
        }
        return evaluation.result.value ?? ""
    }

    /// Waits until the page is loaded and shows a text, at most 20 seconds. It may load another
    /// page meanwhile.
    public func shows(_ text: String) async throws {
        let condition = """
            document.readyState === "complete"
            && document.body.innerText.includes(\(quoted(text)))
            """
        while !Task.isCancelled {
            do {
                let failure = try await evaluate(
                    """
                    new Promise(resolve => {
                      setTimeout(() => resolve("only: " + document.body.innerText), 20_000);
                      const check = () => {
                        if (!(\(condition))) return;
                        observer.disconnect();
                        resolve("");
                      };
                      const observer = new MutationObserver(check);
                      observer.observe(
                        document, { childList: true, subtree: true, characterData: true });
                      addEventListener("load", check);
                      check();
                    })
                    """)
                guard failure.isEmpty else {
                    throw ChromiumError(
                        description: "The page does not show \"\(text)\", \(failure)")
                }
                return
            } catch let error as ChromiumError where error.isOfNavigation {
                continue
            }
        }
    }

    /// The text of the first element that a selector finds.
    public func text(of selector: String) async throws -> String {
        try await evaluate("document.querySelector(\(quoted(selector))).innerText")
    }

    /// Presses and releases the mouse in the middle of an element, once it is there, at most 20
    /// seconds later. Nothing else may be above it.
    public func click(_ selector: String) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        var place = try await middle(of: selector)
        while place.numbers.count != 2 {
            guard ContinuousClock.now < deadline else {
                throw ChromiumError(
                    description: "\(selector) cannot be clicked: \(place.text)")
            }
            try await ContinuousClock().sleep(for: .milliseconds(50))
            place = try await middle(of: selector)
        }
        let numbers = place.numbers
        for event in ["mousePressed", "mouseReleased"] {
            try await call(
                "Input.dispatchMouseEvent",
                [
                    "type": event, "x": numbers[0], "y": numbers[1], "button": "left",
                    "clickCount": 1,
                ])
        }
    }

    /// Where the middle of an element is, or why it cannot be clicked.
    private func middle(
        of selector: String
    ) async throws -> (text: String, numbers: [Double]) {
        do {
            let place = try await evaluate(
                """
                (() => {
                  const element = document.querySelector(\(quoted(selector)));
                  if (!element) return "there is no element";
                  element.scrollIntoView({ block: "center", inline: "center" });
                  // A link may be on several lines.
                  const box = element.getClientRects()[0];
                  if (!box) return "the element is not shown";
                  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
                  const hit = document.elementFromPoint(x, y);
                  if (!hit || !(element.contains(hit) || hit.contains(element)))
                    return `${hit?.outerHTML.slice(0, 100)} is above it`;
                  return `${x} ${y}`;
                })()
                """)
            return (place, place.split(separator: " ").compactMap { Double($0) })
        } catch let error as ChromiumError where error.isOfNavigation {
            return ("the page is being loaded", [])
        }
    }

    /// Replaces the text of a field of a form by typing.
    public func type(_ text: String, into selector: String) async throws {
        try await evaluate(
            """
            (() => {
              const field = document.querySelector(\(quoted(selector)));
              field.focus();
              field.select();
            })()
            """)
        if text.isEmpty { return try await press("Delete", code: 46) }
        try await call("Input.insertText", ["text": text])
    }

    /// Presses a key, such as `j` or `Enter`.
    public func press(_ key: String, code: Int? = nil) async throws {
        let number = code ?? key.uppercased().utf8.first.map { Int($0) } ?? 0
        // A key that is not a character has no text, apart from Enter.
        let text = key == "Enter" ? "\r" : key.count == 1 ? key : ""
        for event in ["keyDown", "keyUp"] {
            var parameters: [String: any Sendable] = [
                "type": event, "key": key, "code": key.count == 1 ? "" : key,
                "windowsVirtualKeyCode": key == "Enter" ? 13 : number,
            ]
            if event == "keyDown", !text.isEmpty { parameters["text"] = text }
            try await call("Input.dispatchKeyEvent", parameters)
        }
    }

    // MARK: - Appearance

    /// The size of the window in CSS pixels, and whether colours are dark.
    public func appear(width: Int, height: Int, isDark: Bool = false) async throws {
        try await call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600])
        let scheme = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
        try await call("Emulation.setEmulatedMedia", ["features": [scheme]])
    }

    /// The window as a PNG.
    public func picture() async throws -> Data {
        struct Picture: Decodable, Sendable { var data: Data }
        return try await browser.call(
            Picture.self, "Page.captureScreenshot", ["format": "png"], session: session
        ).data
    }

    /// Loads another page, as from the address bar.
    public func go(to url: URL) async throws {
        try await call("Page.navigate", ["url": url.absoluteString])
    }

    private func call(_ method: String, _ parameters: sending [String: Any]) async throws {
        struct Nothing: Decodable, Sendable {}
        _ = try await browser.call(Nothing.self, method, parameters, session: session)
    }

    private func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
