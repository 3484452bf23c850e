import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Looks at the sources of the project, as text.
@Suite("Borders that the sources keep")
struct BordersTests {
  /// By the path below `Sources`; without comments.
  private static let sources = SwiftSource.all.mapValues(\.withoutComments)

  /// Modules below `Output`, and what is no file of an output, have literals of their own.
  private static let exceptions: Set<String> = [
    "Engine/Pipeline/Planning/ArtifactRecord.swift",
    "Engine/Pipeline/Definition/PipelineReader.swift",
    "Engine/Pipeline/Stage/OutputName.swift", "Core/Storage/StagingFolder.swift",
    "Captures/Registry/FolderSearch.swift", "Benchmarking/BenchmarkSession.swift",
  ]

  @Test(
    "A name of ours in an output folder is spelled out in Output only",
    arguments: [
      ".scanmill", ".staging", ".failed", "artifact.json", "aliases.json",
      "capture.json", "digests.json", "events.jsonl", "failure.json",
      "looks.json", "memo.json", "owner.json", "pipeline.yaml", "reported.json", "run.json",
      "triage.json", "watch.json", "watch.lock",
    ])
  func names(name: String) {
    let files = Self.sources.filter { $0.value.contains("\"\(name)\"") }.keys
      .filter { !$0.hasPrefix("Engine/Output/") && !Self.exceptions.contains($0) }
    #expect(files.isEmpty)
  }

  @Test(
    "A document of an output is decoded in one file",
    arguments: [
      ("ArtifactRecord", "Engine/Output/Artifacts/ArtifactRecord+Reading.swift"),
      ("RunFile", "Engine/Output/Runs/RunFile.swift"),
      ("RunReport", "Engine/Output/Runs/RunFile.swift"),
      ("RecordedDocument", "Engine/Output/Documents/RecordedDocument.swift"),
      ("RunEvent", "Engine/Output/Runs/RunEventReader.swift"),
      ("CaptureCache", "Engine/Output/Documents/CaptureCache.swift"),
      ("OwnerRecord", "Engine/Output/Documents/OwnerRecord.swift"),
      ("Failure", "Engine/Output/Documents/Failure+Notes.swift"),
    ])
  func readers(type: String, reader: String) {
    #expect(Self.sources[reader] != nil)
    let files = Self.sources.filter {
      $0.value.contains("decode(\(type).self, from:")
    }.keys
    #expect(files.allSatisfy { $0 == reader }, "\(files)")
  }

  @Test(
    "A note of an output is read in one file",
    arguments: [
      ("Failure", "Engine/Output/Documents/Failure+Notes.swift"),
      ("WatchRecord", "Engine/Output/Documents/WatchRecord.swift"),
      ("MarkRecord", "Engine/Output/Marks/MarkRecord.swift"),
    ])
  func notes(type: String, reader: String) {
    let files = Self.sources.filter { $0.value.contains("NotesFile.read(\(type).self,") }.keys
    #expect(Array(files) == [reader])
  }

  @Test(
    "A question to the system is asked in one file",
    arguments: [
      ("CLOCK_MONOTONIC", "Core/Processes/ProgramFollower.swift"),
      ("statvfs(", "Core/Storage/FileSystem.swift"),
      ("EVP_", "Core/Storage/MessageDigest.swift"),
      ("concurrentPerform", "Core/Parallel/HelperThreads.swift"),
    ])
  func system(call: String, owner: String) {
    let files = Self.sources.filter { $0.value.contains(call) }.keys
    #expect(files.allSatisfy { $0 == owner }, "\(files)")
    #expect(Self.sources[owner] != nil)
  }

  @Test("Who shows a night does not know the watcher")
  func watcher() {
    for module in ["Engine", "Pages"] {
      let files = Self.sources.filter { $0.key.hasPrefix("\(module)/") }
      #expect(!files.isEmpty)
      #expect(!files.values.contains { $0.contains("import Watch\n") })
    }
  }
}
