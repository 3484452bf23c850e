import Foundation
import SystemPackage
import TestSupport
import Testing

/// JSON documents that the program has written, each with the name of the schema that it must obey.
struct WrittenDocuments {
  private let place: TemporaryFolder
  private var lines: [String] = []
  /// How many there are of each schema.
  private(set) var counts: [String: Int] = [:]

  init() throws { place = try TemporaryFolder() }

  mutating func add(_ schema: String, _ file: FilePath) {
    lines.append("\(schema)\t\(file.string)")
    counts[schema, default: 0] += 1
  }

  /// What was printed.
  mutating func add(_ schema: String, printed result: Program.Result) throws {
    let file = place.path.appending("\(lines.count).json")
    try file.write(result.output)
    add(schema, file)
  }

  /// Everything for people and scripts in an output folder; notes of the program's own are left out.
  mutating func add(output: FilePath) throws {
    let schemas = [
      "capture.json": "capture", "artifact.json": "artifact", "run.json": "run",
      "events.jsonl": "event", "export.json": "export",
    ]
    let names = FileManager.default.enumerator(atPath: output.string)
    while let name = names?.nextObject() as? String {
      guard let last = name.split(separator: "/").last, let schema = schemas[String(last)],
        !name.split(separator: "/").contains(where: { $0.hasPrefix(".") })
      else { continue }
      add(schema, output.appending(name))
    }
  }

  /// Each obeys its schema, and whatever the schemas forbid is noticed when it is done to them.
  func check() throws {
    let list = place.path.appending("list")
    try list.write(lines.joined(separator: "\n") + "\n")
    let schemas = Fixtures.projectRoot.appending("docs/schemas").string
    let result = try ReaderScript.run("schemas.py", [schemas, list.string])
    print(result.output)
    #expect(result.status == 0, "\(result.output) \(result.errors)")
  }
}
