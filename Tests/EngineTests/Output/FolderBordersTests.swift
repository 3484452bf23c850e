import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Engine

/// The borders between folders of a module. The compiler does not know them, so the sources are read as text.
@Suite("Borders between the folders of a module")
struct FolderBordersTests {
  /// A folder, and those of its neighbors whose types its files may name.
  struct Rule: CustomTestStringConvertible, Sendable {
    /// The folder above, below `Sources`.
    var module: String
    var folder: String
    var mayName: [String]

    init(_ module: String, _ folder: String, mayName: [String] = []) {
      self.module = module
      self.folder = folder
      self.mayName = mayName
    }

    var path: String { "\(module)/\(folder)/" }
    var testDescription: String {
      "\(module)/\(folder) may name \(mayName.isEmpty ? "no neighbor" : mayName.joined(separator: ", "))"
    }
  }

  /// The README of each module states the same.
  static let rules = [
    Rule("Core", "Geometry"),
    Rule("Core", "Parallel"),
    Rule("Core", "Storage"),
    Rule("Core", "Markup", mayName: ["Storage"]),
    Rule("Core", "Processes", mayName: ["Parallel", "Storage"]),
    Rule("Engine", "Pipeline"),
    Rule("Engine", "Output", mayName: ["Pipeline"]),
    Rule("Engine", "Runner", mayName: ["Pipeline", "Output"]),
    Rule("Engine", "Catalog", mayName: ["Pipeline", "Output", "Runner"]),
    Rule("Engine/Runner", "Engine"),
    Rule("Engine/Runner", "Inspection", mayName: ["Engine"]),
    Rule("Engine/Runner", "Verbs", mayName: ["Engine", "Inspection"]),
    Rule("Stages", "Stages"),
    Rule("Stages", "Exports", mayName: ["Stages", "Packing"]),
    Rule("Stages", "Packing"),
    Rule("Pages", "Reports"),
    Rule("Pages", "Pages", mayName: ["Reports"]),
  ]

  @Test("A folder names types of those neighbors only that its rule allows", arguments: rules)
  func border(rule: Rule) {
    let own = Self.files(below: rule.path)
    #expect(!own.isEmpty)
    let ownNames = own.reduce(into: Set<String>()) { $0.formUnion($1.value.declared) }
    for other in Self.rules where other.module == rule.module && other.folder != rule.folder {
      guard !rule.mayName.contains(other.folder) else { continue }
      let types = Self.files(below: other.path)
        .reduce(into: Set<String>()) { $0.formUnion($1.value.outermost) }
      #expect(!types.isEmpty, "\(other.path) declares nothing")
      // Which of two equal names a file means cannot be told from its text.
      let foreign = types.subtracting(ownNames)
      for (name, source) in own {
        let found = source.used.intersection(foreign)
        #expect(found.isEmpty, "\(name) names \(found.sorted()) of \(other.folder)")
      }
    }
  }

  @Test("The folders of a module with borders all have a rule")
  func folders() throws {
    for module in Set(Self.rules.map(\.module)) {
      let folder = Fixtures.projectRoot.appending("Sources").appending(module).string
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: "\(folder)/\($0)", isDirectory: &isFolder)
          && isFolder.boolValue
      }
      let ruled = Set(Self.rules.filter { $0.module == module }.map(\.folder))
      #expect(Set(names) == ruled, "\(module)")
    }
  }

  @Test("The comparison finds names: a folder names types of a neighbor that it may name")
  func finds() {
    for rule in Self.rules where !rule.mayName.isEmpty {
      let types = rule.mayName.reduce(into: Set<String>()) { types, neighbor in
        for file in Self.files(below: "\(rule.module)/\(neighbor)/").values {
          types.formUnion(file.outermost)
        }
      }
      let used = Self.files(below: rule.path)
        .reduce(into: Set<String>()) { $0.formUnion($1.value.used) }
      #expect(!types.isDisjoint(with: used), "\(rule.path)")
    }
  }

  @Test(
    "Comments and texts do not count, what is interpolated does",
    arguments: [
      ("let a = B() // C", ["B"]), ("/* C /* D */ E */ F()", ["F"]),
      (#"f("C \(D(e: "E")) F")"#, ["D"]),
      ("f(#\"C \\(D) \\#(E)\"#)", ["E"]), ("x.C + D.E", ["D"]),
      ("\"\"\"\n  C\n  \\(D)\n\"\"\"\nE()", ["D", "E"]),
    ])
  func text(source: String, used: [String]) {
    #expect(SwiftSource(source).used == Set(used))
  }

  @Test("Declarations are found at the outermost level and inside of types")
  func declarations() {
    let source = SwiftSource(
      """
      public struct A {
        enum B { case c }
      }
      private final class D {}
      import struct E.F
      extension G { typealias H = Int }
      package indirect enum I {}
      """)
    #expect(source.outermost == ["A", "I"])
    #expect(source.declared == ["A", "B", "D", "H", "I"])
  }

  // MARK: Sources

  private static func files(below path: String) -> [String: SwiftSource] {
    SwiftSource.all.filter { $0.key.hasPrefix(path) }
  }
}

@Suite("An output folder that does not stay where it was")
struct OutputGuardTests {
  @Test("Removed, moved and replaced are told; what was written under its old name stays away")
  func check() throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending("out")
    #expect(OutputGuard(path) == nil)
    try FileSystem.makeFolder(path)
    let place = try #require(OutputGuard(path))
    try place.check()
    try FileSystem.rename(path, to: folder.path.appending("moved"))
    #expect(#expect(throws: FileError.self) { try place.check() }?.reason.contains("gone") == true)
    try FileSystem.makeFolder(path)
    #expect(
      #expect(throws: FileError.self) { try place.check() }?.reason.contains("something else")
        == true)
    try FileSystem.remove(path)
    try FileSystem.rename(folder.path.appending("moved"), to: path)
    try place.check()
  }

  @Test("Output that goes away while a stage runs is exit 73, and nothing is made in its place")
  func run() throws {
    let workshop = try Workshop()
    try FileSystem.makeFolder(workshop.output)
    let output = workshop.output
    let aside = workshop.folder.path.appending("aside")
    workshop.probe().after("color") { _ in try FileSystem.rename(output, to: aside) }
    let result = workshop.run(.only("color"))
    #expect(result.exit == 73)
    #expect(result["scan"].why.cause == .machine)
    #expect(
      ([result["scan"].why.message] + result["scan"].stages.map(\.why.message)).contains {
        $0?.contains("\(output)") == true
      })
    #expect(!FileSystem.exists(output.appending("scan/color")))
  }
}
