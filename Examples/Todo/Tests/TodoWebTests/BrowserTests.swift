import Chromium
import Foundation
import Testing

@Suite("Windows of a browser", .timeLimit(.minutes(2)))
struct BrowserTests {
    @Test("browser windows of two processes on one file show each other's changes")
    func twoProcesses() async throws {
        let folder = try TemporaryFolder()
        let store = folder.url.appending(path: "todo.store")
        let one = try await TodoServer(store: store)
        let two = try await TodoServer(store: store)
        let browser = try await Chromium()

        // A group that one process adds is shown by the other, as text.
        let first = try await browser.open(one.url)
        let second = try await browser.open(two.url)
        try await second.shows("There are no groups.")
        try await first.shows("There are no groups.")
        try await first.type("Home <b>& garden</b>", into: "input[name=title]")
        try await first.click("form button")
        try await second.shows("Home <b>& garden</b>")
        #expect(try await second.evaluate("document.querySelector('main b')") == "null")
        try await first.shows("The group has no tasks.")

        // A task that one process adds to the group that the other shows.
        try await second.click("main a")
        try await second.shows("The group has no tasks.")
        try await first.type("Water the plants", into: "form[action='/tasks'] input[name=title]")
        try await first.click("form[action='/tasks'] button")
        try await second.shows("Water the plants")

        // An update does not clear what somebody is typing.
        try await second.click("main a")
        try await second.shows("standard")
        try await second.type("half a ti", into: "#forms input[name=title]")
        let third = try await browser.open(
            two.page(try await second.evaluate("location.pathname + location.search")))
        try await third.shows("standard")
        try await first.shows("Complete")
        try await first.click("main form button")
        try await second.shows("completed")
        try await third.shows("completed")
        #expect(
            try await second.evaluate("document.querySelector('#forms input[name=title]').value")
                == "half a ti")

        // An object that another window shows is deleted: the window keeps the last values, and
        // says so.
        try await first.shows("Reopen")
        try await first.click("main a")
        try await first.shows("Delete the task")
        try await first.click("form[action='/task/delete'] button")
        for page in [second, third] {
            try await page.shows("This task was deleted.")
            #expect(try await page.text(of: "main h1") == "Water the plants")
            #expect(try await page.text(of: "main dl").contains("completed"))
            #expect(try await page.evaluate("document.getElementById('forms').hidden") == "true")
        }
        try await third.evaluate("location.reload()")
        try await third.shows("There is no such task.")
    }

    @Test("a browser window follows the store after the process that served the file has ended")
    func takeover() async throws {
        let folder = try TemporaryFolder()
        let store = folder.url.appending(path: "todo.store")
        let one = try await TodoServer(store: store)
        let two = try await TodoServer(store: store)
        let three = try await TodoServer(store: store)
        let browser = try await Chromium()
        let ended = try await browser.open(one.url)
        let first = try await browser.open(two.url)
        let second = try await browser.open(three.url)
        try await ended.shows("There are no groups.")
        try await first.shows("There are no groups.")
        try await second.shows("There are no groups.")
        one.stop()
        try await first.type("After the end", into: "input[name=title]")
        try await first.click("form button")
        try await second.shows("After the end")
        try await ended.shows("There are no groups.")
    }

    @Test("a server without a store shows mock tasks, and windows follow their changes")
    func mocks() async throws {
        let server = try await TodoServer(store: nil)
        let browser = try await Chromium()
        let today = try await browser.open(server.page("/my-day"))
        try await today.shows("Water the plants")
        let groups = try await browser.open(server.url)
        try await groups.shows("Work & travel")
        try await today.click("main form button")
        try await today.shows("Complete")
        try await groups.click("main a")
        try await groups.shows("Reopen")
    }
}
