import ArgumentParser
import LarderModel
import LarderPrograms
import XcodeModels

struct SchemaFromModelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "from-xcdatamodel",
        abstract: "Print the schema of a model of Core Data.",
        discussion: """
            EXAMPLES:
              larder schema from-xcdatamodel Library.xcdatamodeld > schema.json
              larder schema from-xcdatamodel 'Library.xcdatamodeld/Library 2.xcdatamodel'

            Reads the current version of an .xcdatamodeld folder, or one .xcdatamodel folder. What \
            Larder does not have is named on standard error: value transformers, composite \
            attributes, indexes of expressions. So are fetched properties and stored fetch \
            requests, which are no part of a schema: programs with CoreData read them from the \
            model. Transient attributes are left out, because no store has them.
            """)

    @Argument(
        help: ArgumentHelp("Model that Xcode's editor has written.", valueName: "folder"),
        completion: .directory)
    var path: String

    func run() throws {
        let model = try XcodeModelFile.read(path)
        var output = StandardOutput()
        try output.write(model.schema().fileText)
        try output.flush()
        for note in model.schemaNotes {
            StandardError.write("warning: \(EscapedText.escaped(note))\n")
        }
    }
}
