import Foundation
import Storage
import SystemPackage
import TestSupport
import Testing

/// Looks at the sources of the project, as text.
@Suite("Borders that the sources keep")
struct BordersTests {
  /// By the path below `Sources`; without comments.
  private static let sources: [String: String] = {
    let root = Fixtures.projectRoot.appending("Sources").string
    let names = (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String }) ?? []
    var found: [String: String] = [:]
    for name in names where name.hasSuffix(".swift") {
      guard let text = try? String(contentsOfFile: "\(root)/\(name)", encoding: .utf8) else {
        continue
      }
      found[name] = text.replacing(#/(?m)//.*$/#, with: "")
    }
    return found
  }()

  /// Types that are declared at the outermost level of the files below `folder`.
  private static func types(below folder: String) -> Set<String> {
    let declaration =
      #/(?m)^(?:(?:public|package|final|indirect) +)*(?:struct|class|enum|actor|protocol|typealias) +(\w+)/#
    return sources.filter { $0.key.hasPrefix(folder) }
      .reduce(into: []) { types, file in
        for match in file.value.matches(of: declaration) { types.insert(String(match.1)) }
      }
  }

  @Test(
    "The engine knows neither inspection nor verbs, inspection no verbs",
    arguments: [
      ("Runner/Engine/", "Runner/Inspection/"), ("Runner/Engine/", "Runner/Verbs/"),
      ("Runner/Inspection/", "Runner/Verbs/"),
    ])
  func runner(below: String, above: String) {
    let types = Self.types(below: above)
    #expect(!types.isEmpty)
    let files = Self.sources.filter { $0.key.hasPrefix(below) }
    #expect(!files.isEmpty)
    for (name, text) in files {
      let words = text.matches(of: #/\b[A-Z]\w+/#).map { String($0.0) }
      #expect(types.intersection(words).isEmpty, "\(name)")
    }
  }

  /// Modules below `Output`, and what is no file of an output, have literals of their own.
  private static let exceptions: Set<String> = [
    "Pipeline/Planning/ArtifactRecord.swift", "Pipeline/Definition/PipelineReader.swift",
    "Pipeline/Stage/OutputName.swift", "Storage/StagingFolder.swift",
    "Captures/Registry/FolderSearch.swift", "Benchmarking/BenchmarkSession.swift",
  ]

  @Test(
    "A name of ours in an output folder is spelled out in Output only",
    arguments: [
      ".scanmill", ".staging", ".failed", "artifact.json", "asked.json", "aliases.json",
      "capture.json", "catalog.sqlite", "digests.json", "events.jsonl", "failure.json",
      "looks.json", "memo.json", "owner.json", "pipeline.yaml", "reported.json", "run.json",
      "triage.json", "watch.json", "watch.lock",
    ])
  func names(name: String) {
    let files = Self.sources.filter { $0.value.contains("\"\(name)\"") }.keys
      .filter { !$0.hasPrefix("Output/") && !Self.exceptions.contains($0) }
    #expect(files.isEmpty)
  }

  @Test(
    "A document of an output is decoded in one file",
    arguments: [
      ("ArtifactRecord", "Output/Artifacts/ArtifactRecord+Reading.swift"),
      ("RunFile", "Output/Runs/RunFile.swift"), ("RunReport", "Output/Runs/RunFile.swift"),
      ("RecordedDocument", "Output/Documents/RecordedDocument.swift"),
      ("RunEvent", "Output/Runs/RunEventReader.swift"),
    ])
  func readers(type: String, reader: String) {
    #expect(Self.sources[reader] != nil)
    let files = Self.sources.filter { $0.value.contains("decode(\(type).self, from:") }.keys
    #expect(files.allSatisfy { $0 == reader }, "\(files)")
  }

  @Test("Who shows a night does not know the watcher")
  func watcher() {
    for module in ["Catalog", "Pages", "Reports", "Output", "Runner"] {
      let files = Self.sources.filter { $0.key.hasPrefix("\(module)/") }
      #expect(!files.isEmpty)
      #expect(!files.values.contains { $0.contains("import Watch\n") })
    }
  }
}
