import Chromium
import Foundation
import Testing

/// The folder for pictures of the pages; nil if none are made.
private let folder = ProcessInfo.processInfo.environment["LARDER_PICTURES"]

@Suite("Pictures of Todo for the documents", .timeLimit(.minutes(2)))
struct PictureTests {
    @Test("pictures of the pages of Todo are made", .enabled(if: folder?.isEmpty == false))
    func pictures() async throws {
        let server = try await TodoServer(store: nil)
        let browser = try await Chromium()
        let window = try await browser.open(server.url)
        try await window.appear(width: 640, height: 420)
        try await window.shows("Home")
        try await save(window, "todo-groups")
        try await window.appear(width: 360, height: 560, isDark: true)
        try await window.click("main a")
        try await window.shows("Pay the rent")
        try await save(window, "todo-phone")
    }

    private func save(_ window: Window, _ name: String) async throws {
        try await window.picture().write(
            to: URL(filePath: folder ?? "").appending(path: "\(name).png"))
    }
}
