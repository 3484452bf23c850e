import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Watch

@Suite("The comparison of contents, and results that go while it is made")
struct ContentCheckTests {
  private static func layout(_ folder: TemporaryFolder) throws -> OutputLayout {
    let layout = OutputLayout(root: folder.path, name: "a")
    for stage in ["imu", "depth"] {
      try FileSystem.makeFolder(layout.artifact(stage))
      try OutputFile.write(Array("{}".utf8), to: layout.record(stage))
    }
    return layout
  }

  @Test("Results that nobody touches have the signature that the next scan finds")
  func untouched() throws {
    let folder = try TemporaryFolder()
    let layout = try Self.layout(folder)
    let signature = ContentCheck.signature(of: layout) { true }
    #expect(signature != nil && signature == OutputSignature(of: layout))
  }

  @Test("What is gone before the last look at the results is asked about again")
  func goneBefore() throws {
    let folder = try TemporaryFolder()
    let layout = try Self.layout(folder)
    #expect(ContentCheck.signature(of: layout) { false } == nil)
  }

  @Test("What goes during the last look makes another signature, so that the next scan notices it")
  func goneMeanwhile() throws {
    let folder = try TemporaryFolder()
    let layout = try Self.layout(folder)
    let signature = ContentCheck.signature(of: layout) {
      _ = try? FileManager.default.removeItem(atPath: layout.artifact("depth").string)
      return true
    }
    #expect(signature != nil && signature != OutputSignature(of: layout))
  }
}
