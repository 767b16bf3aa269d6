import ArgumentParser
import LarderModel
import LarderPrograms
import LarderQuery
import LarderStore

struct SchemaInferCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "infer",
        abstract: "Propose a schema for the objects of files.",
        discussion: """
            EXAMPLES:
              larder schema infer airports.csv > schema.json
              larder schema infer airports.csv routes.jsonl --report
              larder schema infer list.csv --name Article --null NA
              larder schema infer app.db > schema.json

            Reads CSV, JSON lines, a JSON array, or an SQLite file to its end, and prints a schema \
            with an entity for each file, or for each table of an SQLite file. What it saw in each \
            column, and the options of import, are printed to standard error; with --report they \
            are the result. Nothing is stored.
            """)

    @Argument(
        help: ArgumentHelp("Files with objects; - for standard input.", valueName: "file"),
        completion: .file(extensions: ["csv", "tsv", "json", "jsonl", "db", "sqlite"]))
    var files: [String]

    @Option(help: ArgumentHelp("Name of the entity. Default: from the name of the file."))
    var name: String?

    @Flag(help: "Print what was seen in each column instead of the schema.")
    var report = false

    @Option(help: "Format of the files. Default: by their names and first characters.")
    var format: ImportFormat?

    @OptionGroup var form: FormatOptions
    @OptionGroup var output: OutputOption

    func validate() throws {
        guard name == nil || files.count == 1 else {
            throw ValidationError("--name requires one file")
        }
    }

    func run() throws {
        var names = InferredNames()
        var entities: [Entity] = []
        var rows: [[Value]] = []
        var notes = ""
        for path in files {
            let file = try InputFile(path)
            if try FileKind.isSQLite(file) {
                let tables = try DatabaseSchema(DatabaseFile(path: path), path: path, &names)
                entities += tables.entities
                rows += tables.report
                notes += tables.notes.map { "\($0)\n" }.joined()
                continue
            }
            let entityName = name ?? names.entity(InferredNames.base(of: path))
            var inference = try form.inference(file, path, format)
            let (entity, format) = try inference.entity(named: entityName)
            entities.append(entity)
            rows += InferenceReport.rows(inference.columns, entity: entityName)
            let options = InferenceReport.options(inference.columns, format)
            let command = ["larder import \(entityName) \(InferenceReport.quoted(path))"]
            notes += (command + options).joined(separator: " ") + "\n"
        }
        try print(entities, rows, notes)
    }

    private func print(_ entities: [Entity], _ rows: [[Value]], _ notes: String) throws {
        if report {
            var writer = output.format.makeWriter()
            try writer.write(all: rows, names: InferenceReport.names)
            return StandardError.write(notes)
        }
        let schema: Schema
        do throws(SchemaError) {
            schema = try Schema(entities: entities)
        } catch {
            throw error.larderError
        }
        var standardOutput = StandardOutput()
        try standardOutput.write(schema.fileText)
        try standardOutput.flush()
        let lines = ([InferenceReport.names.map { .string($0) }] + rows).map { row in
            row.map { EscapedText.escaped($0.text) }.joined(separator: "\t")
        }
        StandardError.write(lines.joined(separator: "\n") + "\n" + notes)
    }
}
