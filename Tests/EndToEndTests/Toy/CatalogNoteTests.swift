import Catalog
import Output
import Pipeline
import Runner
import Storage
import SystemPackage
import Testing
import ToyFamily

@Suite("What a run notes in the catalog for the first answer after it")
struct CatalogNoteTests {
  private static let signature = "this program"
  private let scene: ToyPackScene

  init() throws { scene = try ToyPackScene() }

  private func reader(_ signature: String? = signature) throws -> OutputReader {
    let pipeline = try ToyStages.source.definition(ToyStages.registry)
    return OutputReader(
      OutputExaminer(
        captures: ToyPackScene.registry, stages: ToyStages.registry, chosen: pipeline,
        standard: pipeline), signature: signature)
  }

  private func catalog() -> Catalog? { Catalog(of: scene.output, signature: Self.signature) }

  @Test("The named captures as an answer reads them; rows of others stay, of gone ones go")
  func note() throws {
    for (number, name) in ["a", "b", "c"].enumerated() {
      try scene.write(ToyPackScene.pack(number + 1), "\(name).pack")
    }
    #expect(try scene.run([scene.input]).exit == 0)
    try reader().note(["a", "b"], run: "none", of: scene.output)
    #expect(catalog()?.captures.keys.sorted() == ["a", "b"])
    #expect(catalog()?.runs.isEmpty == true)
    let snapshot = try reader(nil).view(of: scene.output)
    for id in ["a", "b"] {
      let read = try #require(snapshot.rows.first { $0.id == id }?.entry)
      #expect(catalog()?.captures[id]?.bytes == (try EntryBytes.bytes(read)[...]))
    }
    try FileSystem.remove(scene.output.appending("a"))
    try reader().note(["a", "c"], run: "none", of: scene.output)
    #expect(catalog()?.captures.keys.sorted() == ["b", "c"])
  }

  @Test("Nothing where the catalog is of no use to the answers that are asked for")
  func none() throws {
    try scene.write(ToyPackScene.pack(1), "a.pack")
    #expect(try scene.run([scene.input]).exit == 0)
    try reader(nil).note(["a"], run: "none", of: scene.output)
    #expect(!FileSystem.exists(scene.output.appending(".scanmill/catalog")))
  }
}
