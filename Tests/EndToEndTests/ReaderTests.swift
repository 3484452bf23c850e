import Foundation
import Storage
import SystemPackage
import TestSupport
import Testing

@Suite("Exports in the loaders of other people", .runsPrograms)
struct ReaderTests {
  /// One capture of each kind, exported once for all readers.
  private struct Kind: Sendable {
    var family: String
    var generation: String?
    var frames: Int
    var size: (Int, Int)

    static let all = [
      Kind(family: "arkit-scanner", frames: 40, size: (160, 120)),
      Kind(family: "scannet", frames: 24, size: (324, 242)),
      Kind(family: "multiscan", frames: 24, size: (160, 120)),
      Kind(family: "vi-slam", frames: 30, size: (160, 90)),
      Kind(family: "strabo", frames: 20, size: (160, 120)),
    ]
  }

  @Test(
    "Each opens what it reads, the geometry is right, and every deliberate mistake is noticed",
    .enabled(if: Readers.arePresent, "needs .build/readers"),
    arguments: ["arkit-scanner", "scannet", "multiscan", "vi-slam", "strabo"])
  func everyFormat(family: String) throws {
    let kind = try #require(Kind.all.first { $0.family == family })
    let scene = try ExportScene(
      family, frames: kind.frames, generation: kind.generation, size: kind.size)
    let result = try scene.run(["--pipeline", "exports", "--json"])
    #expect(result.status == 0, "\(result.errors)")
    try ExportInvariants(capture: scene.capture).check()
    var opened: [String] = []
    for format in Readers.formats {
      let export = scene.capture.appending("export-\(format)")
      guard FileSystem.exists(export) else { continue }
      let reading = try Readers.check(
        format, export, capture: scene.capture, truth: scene.truth)
      #expect(reading.status == 0, "\(family): \(reading.output)")
      print(
        reading.output.split(separator: "\n").map { "\(family): \($0)" }.joined(separator: "\n"))
      opened.append("export-\(format)")
    }
    // Nothing is exported that no reader opens.
    let made = try ExportInvariants(capture: scene.capture).stages
    #expect(Set(made) == Set(opened))
  }
}
