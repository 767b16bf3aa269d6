import Chromium
import Foundation
import FoundationNetworking
import Testing

@Suite("The pages of a process", .timeLimit(.minutes(1)))
struct HTTPTests {
    private struct Answer {
        var status: Int
        var text: String
        var url: URL?
    }

    private func get(_ url: URL) async throws -> Answer { try await send(URLRequest(url: url)) }

    private func post(
        _ url: URL, _ form: String, origin: String? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(form.utf8)
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        if let origin { request.setValue(origin, forHTTPHeaderField: "Origin") }
        return try await send(request)
    }

    private func send(_ request: URLRequest) async throws -> Answer {
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return Answer(
            status: status, text: String(decoding: data, as: UTF8.self), url: response.url)
    }

    @Test(
        "a posted form changes the values and shows the page of the object",
        arguments: [false, true])
    func forms(isStored: Bool) async throws {
        let folder = try TemporaryFolder()
        let server = try await TodoServer(
            store: isStored ? folder.url.appending(path: "todo.store") : nil)
        let group = try await post(server.page("/groups"), "title=Caf%C3%A9+%26+bar")
        #expect(group.status == 200)
        #expect(group.text.contains("<h1>Café &amp; bar</h1>"))
        let id = try #require(group.url?.query())
        let listed = try await post(server.page("/tasks"), id + "&title=Espresso")
        #expect(listed.text.contains("class=\"open standard\">"))
        let link = try #require(
            listed.text.firstMatch(of: /<a href="(\/task\?id=[^"]*)">Espresso</)?.1)
        let task = try await get(server.page(String(link)))
        #expect(task.text.contains("<dd>standard</dd>"))
        let taskID = link.dropFirst("/task?".count)
        let changed = try await post(
            server.page("/task"), "\(taskID)&title=Ristretto&priority=2&my-day=true")
        #expect(changed.text.contains("<h1>Ristretto</h1>"))
        #expect(changed.text.contains("<dd>high</dd>"))
        #expect(try await get(server.page("/my-day")).text.contains("Ristretto"))
        let renamed = try await post(server.page("/group/title"), id + "&title=Bar")
        #expect(renamed.text.contains("<h1>Bar</h1>"))
        let other = try await post(server.page("/groups"), "title=Other")
        let target = try #require(other.url?.query()).replacing("id=", with: "group=")
        let moved = try await post(server.page("/task/group"), "\(taskID)&\(target)")
        #expect(moved.text.contains(">Other</a></dd>"))
        let gone = try await post(server.page("/task/delete"), String(taskID))
        #expect(gone.text.contains("<h1>Other</h1>"))
        let groups = try await post(server.page("/group/delete"), id)
        #expect(groups.text.contains(">Other</a>"))
        #expect(!groups.text.contains(">Bar</a>"))
    }

    @Test("a posted form with bad input is refused with a message")
    func badInput() async throws {
        let folder = try TemporaryFolder()
        let server = try await TodoServer(store: folder.url.appending(path: "todo.store"))
        let group = try #require(
            try await post(server.page("/groups"), "title=Home").url?.query())
        func expect(_ answer: Answer, _ status: Int, _ message: String) {
            #expect(answer.status == status)
            #expect(answer.text.contains("<p class=\"error\">\(message)"))
        }
        for form in ["title=", "title=++%0A", "", "other=1"] {
            expect(try await post(server.page("/groups"), form), 400, "The title is empty.")
        }
        expect(
            try await post(
                server.page("/tasks"), group + "&title=" + String(repeating: "x", count: 201)),
            400, "The title is too long. It may have 200 characters.")
        expect(
            try await post(
                server.page("/groups"), "title=" + String(repeating: "x", count: 3_000_000)),
            413, "The form is too long.")
        expect(try await post(server.page("/task"), group + "&title=a"), 400, "The form is not")
        expect(
            try await post(server.page("/task"), group + "&title=a&priority=1"), 404,
            "There is no such task.")
        let foreign = "x-coredata%3A%2F%2F\(UUID())%2FGroupModel%2Fp1"
        for id in ["", "id=", "id=1", "id=integer:1", "id=x-coredata:%2F%2F", "id=\(foreign)"] {
            expect(try await get(server.page("/group?" + id)), 404, "There is no such group.")
            expect(try await post(server.page("/group/delete"), id), 404, "There is no such group")
        }
        let events = try await get(server.page("/events/group?id=\(foreign)"))
        #expect(events.text.hasPrefix("event: gone\ndata: <p class=\"notice\""))
        expect(try await get(server.page("/nowhere")), 404, "There is no such page.")
        expect(
            try await post(server.page("/groups"), "title=a", origin: "http://example.org"), 403,
            "The form was sent by a page of another site.")
        #expect(!(try await get(server.url)).text.contains(">a</a>"))
    }
}
