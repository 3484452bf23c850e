import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
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

  private func catalog() -> Catalog? { Catalog(of: scene.output, for: Self.signature) }

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
      let read = try #require(snapshot.rows.first { $0.id == id })
      #expect(catalog()?.captures[id]?.bytes == (try read.cacheBytes()[...]))
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

  @Test("Stamps that another program took stay where nothing was touched since, and nowhere else")
  func stampsOfAnother() async throws {
    let ids = ["a", "b", "c"]
    for (number, name) in ids.enumerated() {
      try scene.write(ToyPackScene.pack(number + 1), "\(name).pack")
    }
    #expect(try scene.run([scene.input]).exit == 0)
    // What changed within the last two seconds has no stamps.
    try await Task.sleep(for: .seconds(2.1))
    let entries = try reader().view(of: scene.output).rows
    var noted = try #require(catalog())
    // Stamps that this program would not take, to be told from those that it takes.
    let marker = Digest(of: "taken by another program")
    for id in ids {
      let row = try #require(noted.captures[id])
      var stamps = try #require(row.stamps)
      #expect(stamps.proof != nil)
      #expect(stamps.content != marker)
      stamps.content = marker
      if id == "c" { stamps.places = Digest(of: "other places") }
      noted.captures[id] = row.with(stamps)
    }
    noted.write(to: scene.output, signature: "another program")
    try OutputFile.write([1], to: scene.output.appending("b/notes.txt"))
    let again = try reader().view(of: scene.output).rows
    #expect(again == entries)
    let found = try #require(catalog())
    #expect(found.captures.keys.sorted() == ids)
    #expect(found.captures["a"]?.stamps?.content == marker)
    let first = try #require(entries.first { $0.id == "a" })
    #expect(found.captures["a"]?.bytes == (try first.cacheBytes()[...]))
    for id in ["b", "c"] { #expect(found.captures[id]?.stamps?.content != marker) }
  }

  @Test("What a filter turns down is not looked at, unless what it was turned down by is another")
  func turnedDown() async throws {
    for (number, name) in ["a", "b"].enumerated() {
      try scene.write(ToyPackScene.pack(number + 1), "\(name).pack")
    }
    #expect(try scene.run([scene.input]).exit == 0)
    // What changed within the last two seconds has no stamps.
    try await Task.sleep(for: .seconds(2.1))
    #expect(try reader().view(of: scene.output).rows.count == 2)
    func found(_ filter: StatusFilter) throws -> (ids: [String], leftOut: Int) {
      let view = try reader().view(of: scene.output, choice: filter.choice)
      return (view.rows.filter(filter.holds).map(\.id), view.leftOut)
    }
    var byDevice = StatusFilter()
    byDevice.device = "PHONE X"
    #expect(try found(byDevice) == ([], 2))
    let document = scene.output.appending("a/capture.json")
    var capture = try document.json()
    capture["device"] = ["name": "Phone X of a lab"]
    try OutputFile.write(Array(JSONSerialization.data(withJSONObject: capture)), to: document)
    // That says nothing of a device.
    try OutputFile.write([1], to: scene.output.appending("b/notes.txt"))
    #expect(try found(byDevice) == (["a"], 1))
    var byName = byDevice
    byName.names = NameChoice(idPrefixes: ["b"], excluded: [])
    #expect(try found(byName) == ([], 1))
    var byState = StatusFilter()
    byState.states = [.failed]
    #expect(byState.choice == nil)
  }

  @Test(
    "A run after another program was installed keeps the stamps of captures that it does not touch")
  func runOfAnother() throws {
    for name in ["a", "b"] { try scene.write(ToyPackScene.pack(1), "\(name).pack") }
    #expect(try scene.run([scene.input]).exit == 0)
    let stamps = EntryStamps(
      records: Digest(of: "r"), outputs: Digest(of: "o"), places: Digest(of: "p"))
    var noted = Catalog()
    for id in ["a", "b"] {
      noted.captures[id] = Catalog.Row(stamps: stamps, outputs: 1, bytes: [1, 2, 3])
    }
    noted.write(to: scene.output, signature: "another program")
    try reader().note(["a"], run: "none", of: scene.output)
    #expect(catalog()?.captures["a"]?.entry?.id == "a")
    #expect(catalog()?.captures["b"]?.entry == nil)
    #expect(catalog()?.captures["b"]?.stamps == stamps)
  }
}
