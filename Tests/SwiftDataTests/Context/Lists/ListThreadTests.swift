import Foundation
import SwiftData
import Testing

@Suite("Long lists of models that several threads read")
struct ListThreadTests {
    /// Sendable unchecked: the test is about use by several threads.
    private struct Shared: @unchecked Sendable { let articles: [Article] }

    @Test("threads that read long lists while their models are deleted do not end the process")
    func deletion() throws {
        let context = ModelContext(try makeContainer())
        let articles = (0..<20).map { number in
            let article = Article(title: "\(number)")
            context.insert(article)
            article.notes = (0..<60).map { Note(text: "\($0)") }
            return article
        }
        try context.save()
        let shared = Shared(articles: articles)
        let group = DispatchGroup()
        for _ in 0..<3 {
            DispatchQueue.global().async(group: group) {
                for article in shared.articles { #expect(article.notes.count <= 61) }
            }
        }
        for article in articles {
            article.notes.append(Note(text: "60"))
            context.delete(article)
        }
        try context.save()
        group.wait()
        #expect(articles.allSatisfy { $0.isDeleted })
    }
}
