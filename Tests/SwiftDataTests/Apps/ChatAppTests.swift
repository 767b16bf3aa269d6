import Foundation
import SwiftData
import Testing

// A chat: users in conversations, messages whose bodies are an enumeration with values. The second
// version makes handles unique, for which it merges users, and stores when a conversation was last
// active.

enum ChatBody: Codable, Hashable {
    case text(String)
    case image(URL, width: Int, height: Int)
    case location(latitude: Double, longitude: Double)
    case removed
}

struct ChatPresence: Codable, Hashable {
    var isOnline = false
    var lastSeen: Date?
}

enum ChatV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [User.self, Conversation.self, Message.self] }

    @Model final class User {
        var handle: String
        var name: String
        var joinedAt: Date
        @Attribute(.externalStorage) var avatar: Data?
        var conversations: [Conversation]
        @Relationship(deleteRule: .nullify, inverse: \Message.sender) var messages: [Message]

        init(handle: String, name: String, joinedAt: Date, avatar: Data? = nil) {
            self.handle = handle
            self.name = name
            self.joinedAt = joinedAt
            self.avatar = avatar
            conversations = []
            messages = []
        }
    }

    @Model final class Conversation {
        var title: String?
        var isPinned = false
        @Relationship(inverse: \User.conversations) var participants: [User] = []
        @Relationship(deleteRule: .cascade, inverse: \Message.conversation)
        var messages: [Message] = []

        init(title: String?) { self.title = title }
    }

    @Model final class Message {
        @Attribute(.unique) var id: UUID
        var sentAt: Date
        var body: ChatBody
        var text: String
        var sender: User?
        var conversation: Conversation?
        @Relationship(inverse: \Message.replies) var replyTo: Message?
        var replies: [Message] = []

        init(sentAt: Date, body: ChatBody, sender: User, conversation: Conversation) {
            id = UUID()
            self.sentAt = sentAt
            self.body = body
            text = if case .text(let text) = body { text } else { "" }
            self.sender = sender
            self.conversation = conversation
        }
    }
}

enum ChatV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] {
        [User.self, Conversation.self, Message.self, Reaction.self]
    }

    @Model final class User {
        #Unique<User>([\.handle])

        var handle: String
        @Attribute(originalName: "name") var displayName: String
        var joinedAt: Date
        @Attribute(.externalStorage) var avatar: Data?
        @Attribute(.ephemeral) var presence: ChatPresence = ChatPresence()
        var conversations: [Conversation]
        @Relationship(deleteRule: .nullify, inverse: \Message.sender) var messages: [Message]

        init(handle: String, displayName: String) {
            self.handle = handle
            self.displayName = displayName
            joinedAt = .now
            conversations = []
            messages = []
        }
    }

    @Model final class Conversation {
        var title: String?
        var isPinned = false
        var lastActivity: Date = Date.distantPast
        var messageCount: Int = 0
        @Relationship(inverse: \User.conversations) var participants: [User] = []
        @Relationship(deleteRule: .cascade, inverse: \Message.conversation)
        var messages: [Message] = []

        init(title: String?) { self.title = title }
    }

    @Model final class Message {
        #Index<Message>([\.sentAt])

        @Attribute(.unique) var id: UUID
        var sentAt: Date
        var body: ChatBody
        var text: String
        var sender: User?
        var conversation: Conversation?
        @Relationship(inverse: \Message.replies) var replyTo: Message?
        var replies: [Message] = []
        @Relationship(deleteRule: .cascade, inverse: \Reaction.message)
        var reactions: [Reaction]? = []

        init(sentAt: Date, body: ChatBody, sender: User?, conversation: Conversation) {
            id = UUID()
            self.sentAt = sentAt
            self.body = body
            text = if case .text(let text) = body { text } else { "" }
            self.sender = sender
            self.conversation = conversation
        }
    }

    @Model final class Reaction {
        var emoji: String
        var message: Message?

        init(emoji: String, message: Message) {
            self.emoji = emoji
            self.message = message
        }
    }
}

enum ChatPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ChatV1.self, ChatV2.self] }
    static var stages: [MigrationStage] { [mergeUsers] }

    static let mergeUsers = MigrationStage.custom(
        fromVersion: ChatV1.self, toVersion: ChatV2.self,
        willMigrate: { context in
            var originals: [String: ChatV1.User] = [:]
            let byAge = FetchDescriptor<ChatV1.User>(sortBy: [SortDescriptor(\.joinedAt)])
            for user in try context.fetch(byAge) {
                user.handle = user.handle.lowercased()
                guard let original = originals[user.handle] else {
                    originals[user.handle] = user
                    continue
                }
                for message in user.messages { message.sender = original }
                for conversation in user.conversations
                where !original.conversations.contains(conversation) {
                    original.conversations.append(conversation)
                }
                original.avatar = original.avatar ?? user.avatar
                context.delete(user)
            }
            try context.save()
        },
        didMigrate: { context in
            let conversations = FetchDescriptor<ChatV2.Conversation>()
            try context.enumerate(conversations, allowEscapingMutations: true) { conversation in
                conversation.lastActivity =
                    conversation.messages.map(\.sentAt).max() ?? .distantPast
                conversation.messageCount = conversation.messages.count
            }
            try context.save()
        })
}

struct ChatEnvelope: Sendable {
    var handle: String
    var body: ChatBody
    var sentAt: Date
}

/// The part of the app that stores received messages away from the main actor.
@ModelActor actor ChatReceiver {
    func receive(_ envelopes: [ChatEnvelope], in identifier: PersistentIdentifier) throws -> Int {
        guard let conversation = self[identifier, as: ChatV2.Conversation.self] else { return 0 }
        for envelope in envelopes {
            let handle = envelope.handle
            var descriptor = FetchDescriptor<ChatV2.User>(
                predicate: #Predicate { $0.handle == handle })
            descriptor.fetchLimit = 1
            let sender =
                try modelContext.fetch(descriptor).first
                ?? ChatV2.User(handle: handle, displayName: handle.capitalized)
            if !conversation.participants.contains(sender) {
                conversation.participants.append(sender)
            }
            modelContext.insert(
                ChatV2.Message(
                    sentAt: envelope.sentAt, body: envelope.body, sender: sender,
                    conversation: conversation))
            conversation.lastActivity = max(conversation.lastActivity, envelope.sentAt)
        }
        conversation.messageCount += envelopes.count
        try modelContext.save()
        return conversation.messageCount
    }
}

extension ChatV2.Conversation {
    static var inbox: FetchDescriptor<ChatV2.Conversation> {
        FetchDescriptor(sortBy: [SortDescriptor(\.lastActivity, order: .reverse)])
    }

    var transcript: [String] {
        messages.sorted { $0.sentAt < $1.sentAt }.map { message in
            let name = message.sender?.displayName ?? "unknown"
            switch message.body {
            case .text(let text): return "\(name): \(text)"
            case .image(let url, _, _): return "\(name) sent \(url.lastPathComponent)"
            case .location: return "\(name) shared a location"
            case .removed: return "\(name) removed a message"
            }
        }
    }
}

@Suite("An app for chats")
struct ChatAppTests {
    private let store: AppStore

    /// The store of the first version: 12 users, of whom Ann has three accounts, and 5
    /// conversations of 40 messages.
    init() throws {
        store = try AppStore()
        try store.launch(ChatV1.self) { context in
            let handles = ["ann", "Ann", "ANN"] + (3..<12).map { "user\($0)" }
            let users = handles.enumerated().map { number, handle in
                ChatV1.User(
                    handle: handle, name: "Name \(number)", joinedAt: AppStore.day(-number),
                    avatar: number == 1 ? Data([1, 2, 3]) : nil)
            }
            users.forEach(context.insert)
            for number in 0..<5 {
                let conversation = ChatV1.Conversation(title: number == 4 ? nil : "Talk \(number)")
                conversation.participants = [users[number % 3]] + users[3 + number..<6 + number]
                var last: ChatV1.Message?
                for index in 0..<40 {
                    let message = ChatV1.Message(
                        sentAt: AppStore.day(number, hour: index), body: body(index),
                        sender: conversation.participants[index % 4], conversation: conversation)
                    if index % 8 == 7 { message.replyTo = last }
                    last = message
                }
                context.insert(conversation)
            }
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<ChatV1.Message>()) == 200)
            #expect(try context.fetchCount(FetchDescriptor<ChatV1.User>()) == 12)
        }
    }

    private func body(_ index: Int) -> ChatBody {
        switch index % 10 {
        case 3: .image(URL(filePath: "/images/\(index).jpg"), width: index, height: 20)
        case 6: .location(latitude: Double(index) / 2, longitude: -1.5)
        case 9: .removed
        default: .text("message \(index)")
        }
    }

    @Test("the users of a chat are merged by a migration that makes handles unique")
    func merging() throws {
        try store.launch(ChatV2.self, ChatPlan.self) { context in
            let users = try context.fetch(
                FetchDescriptor<ChatV2.User>(sortBy: [SortDescriptor(\.handle)]))
            #expect(users.count == 10)
            let ann = try #require(users.first)
            #expect(ann.handle == "ann" && ann.displayName == "Name 2")
            #expect(ann.joinedAt == AppStore.day(-2))
            #expect(ann.avatar == Data([1, 2, 3]))
            #expect(ann.conversations.count == 5)
            #expect(ann.messages.count == 50)
            #expect(ann.presence == ChatPresence())
            ann.presence.isOnline = true
            context.insert(ChatV2.User(handle: "ann", displayName: "Ann Lee"))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<ChatV2.User>()) == 10)
            #expect(ann.displayName == "Ann Lee" && ann.messages.count == 50)
        }
        try store.launch(ChatV2.self, ChatPlan.self) { context in
            let ann = try #require(
                try context.fetch(
                    FetchDescriptor<ChatV2.User>(predicate: #Predicate { $0.handle == "ann" })
                ).first)
            #expect(ann.displayName == "Ann Lee" && !ann.presence.isOnline)
            #expect(ann.conversations.count == 5)
        }
        try store.expectCurrent(ChatV2.self, ChatPlan.self)
    }

    @Test("the conversations of a chat keep messages, bodies and replies after a migration")
    func conversations() throws {
        try store.launch(ChatV2.self, ChatPlan.self) { context in
            let inbox = try context.fetch(ChatV2.Conversation.inbox)
            #expect(inbox.map(\.title) == [nil, "Talk 3", "Talk 2", "Talk 1", "Talk 0"])
            #expect(inbox.map(\.messageCount) == [40, 40, 40, 40, 40])
            #expect(inbox.first?.lastActivity == AppStore.day(4, hour: 39))
            for conversation in inbox {
                let messages = conversation.messages.sorted { $0.sentAt < $1.sentAt }
                #expect(messages.map(\.body) == (0..<40).map(body))
                for (index, message) in messages.enumerated() {
                    #expect(message.replyTo === (index % 8 == 7 ? messages[index - 1] : nil))
                    #expect(message.reactions == [])
                }
                #expect(conversation.participants.count == 4)
            }
            let transcript = try #require(inbox.last).transcript
            #expect(transcript[0] == "Name 2: message 0")
            #expect(transcript[3] == "Name 5 sent 3.jpg")
            #expect(transcript[9] == "Name 3 removed a message")
            let message = try #require(inbox[0].messages.first { $0.replyTo != nil })
            context.insert(ChatV2.Reaction(emoji: "👍", message: message))
            context.insert(ChatV2.Reaction(emoji: "🎉", message: message))
            try context.save()
            context.delete(inbox[0])
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<ChatV2.Message>()) == 160)
            #expect(try context.fetchCount(FetchDescriptor<ChatV2.Reaction>()) == 0)
            #expect(try context.fetchCount(FetchDescriptor<ChatV2.User>()) == 10)
        }
        try store.expectCurrent(ChatV2.self, ChatPlan.self)
    }

    @Test("the messages of a chat are found by sender, text, reaction and conversation")
    func queries() throws {
        try store.launch(ChatV2.self, ChatPlan.self) { context in
            func count(_ predicate: Predicate<ChatV2.Message>) throws -> Int {
                try context.fetchCount(FetchDescriptor(predicate: predicate))
            }
            let handle = "user5"
            #expect(try count(#Predicate { $0.sender?.handle == handle }) == 30)
            #expect(try count(#Predicate { $0.text.localizedStandardContains("MESSAGE 3") }) == 35)
            #expect(try count(#Predicate { $0.conversation?.title == nil }) == 40)
            #expect(
                try count(#Predicate { $0.conversation?.title?.contains("2") == true }) == 40)
            #expect(try count(#Predicate { $0.replyTo != nil && $0.replies.isEmpty }) == 25)
            #expect(
                try count(
                    #Predicate { $0.replyTo.flatMap { $0.sender?.handle == handle } == true }) == 5)
            let first = try #require(
                try context.fetch(
                    FetchDescriptor<ChatV2.Message>(
                        sortBy: [
                            SortDescriptor(\.conversation?.title), SortDescriptor(\.sentAt),
                        ])
                ).last)
            #expect(first.conversation?.title == "Talk 3" && first.body == .removed)
            context.insert(ChatV2.Reaction(emoji: "👍", message: first))
            #expect(
                try count(
                    #Predicate { $0.reactions?.contains { $0.emoji == "👍" } ?? false }) == 1)
            let with = #Predicate<ChatV2.Conversation> { conversation in
                conversation.participants.contains { $0.handle == handle }
            }
            #expect(try context.fetchCount(FetchDescriptor(predicate: with)) == 3)
        }
    }

    @Test("the receiver of a chat saves messages, which the main context sees")
    @MainActor func receiving() async throws {
        let container = try store.open(ChatV2.self, ChatPlan.self)
        let context = container.mainContext
        let oldest = try #require(try context.fetch(ChatV2.Conversation.inbox).last)
        let envelopes = (0..<20).map { number in
            ChatEnvelope(
                handle: number % 2 == 0 ? "ann" : "zoe", body: .text("new \(number)"),
                sentAt: AppStore.day(50, hour: number))
        }
        let receiver = ChatReceiver(modelContainer: container)
        let identifier = oldest.persistentModelID
        #expect(try await receiver.receive(envelopes, in: identifier) == 60)
        let inbox = try context.fetch(ChatV2.Conversation.inbox)
        #expect(inbox.first === oldest)
        #expect(oldest.lastActivity == AppStore.day(50, hour: 19))
        #expect(oldest.transcript.last == "Zoe: new 19")
        #expect(
            oldest.participants.map(\.handle).sorted() == ["ann", "user3", "user4", "user5", "zoe"])
        #expect(try context.fetchCount(FetchDescriptor<ChatV2.User>()) == 11)
    }
}
