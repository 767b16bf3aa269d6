import Foundation
import Magazine
import SwiftData

/// Counts readers in two ways and compares them: `magazine bench [FILE] [READERS]`.
@main
struct MagazineTool {
    private static let roundCount = 9

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.first == "bench", arguments.count <= 3,
            let readerCount = Int(arguments.dropFirst(2).first ?? "10000"), readerCount > 0
        else {
            FileHandle.standardError.write(Data("usage: magazine bench [FILE] [READERS]\n".utf8))
            exit(64)
        }
        let url = arguments.dropFirst().first.map { URL(filePath: $0) }
        let container = try magazineContainer(at: url)
        try await Librarian(modelContainer: container).addReaders(readerCount)

        let (grouped, groupedTime) = try median(container) { try $0.readersByYear() }
        let (fetched, fetchedTime) = try median(container) { try $0.fetchedReadersByYear() }
        guard grouped == fetched else {
            FileHandle.standardError.write(Data("the two counts differ\n".utf8))
            exit(1)
        }
        let total = grouped.reduce(0) { $0 + $1.readers }
        print("\(total) readers of \(grouped.count) years, in \(url?.path ?? "memory")")
        print("grouped by the store      \(milliseconds(groupedTime))")
        print("fetched and counted       \(milliseconds(fetchedTime))")
        print("ratio                     \((fetchedTime / groupedTime).formatted)")
    }

    /// The result and the median time of several rounds, each with a new context.
    private static func median(
        _ container: ModelContainer, _ count: (ModelContext) throws -> [YearCount]
    ) throws -> ([YearCount], Double) {
        var times: [Double] = []
        var result: [YearCount] = []
        for _ in 0..<roundCount {
            let context = ModelContext(container)
            let time = try ContinuousClock().measure { result = try count(context) }
            times.append(time / .milliseconds(1))
        }
        return (result, times.sorted()[roundCount / 2])
    }

    private static func milliseconds(_ time: Double) -> String { "\(time.formatted) ms" }
}

extension Double {
    fileprivate var formatted: String { String(format: "%.2f", self) }
}
