import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Captures

@Suite("The guide for new families")
struct AddingAFamilyTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  @Test("Its code is the family that these tests compile, block by block, and nothing is left out")
  func blocks() throws {
    let guide = try Self.text("docs/adding-a-family.md")
    let parts = guide.components(separatedBy: "\n```swift\n").dropFirst()
    let blocks = parts.compactMap { $0.components(separatedBy: "\n```\n").first }
    let code = try Self.text("Tests/CapturesTests/DotsFamily.swift")
    let start = try #require(code.range(of: "extension CaptureFamily"))
    #expect(blocks.joined(separator: "\n\n") + "\n" == code[start.lowerBound...])
    #expect(guide.split(separator: "\n", omittingEmptySubsequences: false).count <= 201)
  }

  @Test("Each shared part that it names exists")
  func parts() throws {
    let guide = try Self.text("docs/adding-a-family.md")
    let folder = Self.root.appending(path: "Sources/Captures").path
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    let shared = Data(
      try names.filter { $0.hasSuffix(".swift") }
        .map { try Data(contentsOf: URL(filePath: "\(folder)/\($0)")) }.joined())
    let kinds = ["struct", "enum", "class", "protocol", "extension"]
    for part in [
      "NumberedFiles", "FrameFiles", "PictureFiles", "StoredPictureFiles", "LooseJSON",
      "RowTable", "CaptureVideo", "VideoOddities", "ColorFit",
      "CaptureStill", "TimeBounds", "TimeOrder", "TimeMajority", "PoseBreak",
      "FolderName",
    ] {
      #expect(kinds.contains { shared.range(of: Data("\($0) \(part)".utf8)) != nil }, "\(part)")
      #expect(guide.contains(part))
    }
  }

  private func scratch() throws -> ScratchCapture {
    let scratch = try ScratchCapture(named: "first")
    for frame in [0, 1, 3] {
      try scratch.write(
        """
        {"time": 1.\(frame), "dotsPose": [1,0,0,0, 0,1,0,0, 0,0,1,0, \(frame),0,0,1]}
        """, to: "dots_0000\(frame).json")
    }
    return scratch
  }

  @Test("Its family is recognized, and opened without losing a frame")
  func example() throws {
    let scratch = try scratch()
    try scratch.write("{", to: "dots_00001.json")
    try scratch.write("x", to: "dots_00002.png")
    let registry = CaptureRegistry([DotsReader.self])
    let found = registry.recognize(try FolderListing(of: scratch.folder))
    #expect(found.map(\.id) == ["first"])
    let capture = try registry.open(try #require(found.first))
    #expect(
      capture.frames.map(\.timestamp?.nanoseconds) == [1_000_000_000, nil, nil, 1_300_000_000])
    #expect(capture.poses.value?.rows.map(\.frame) == [0, 3])
    #expect(capture.poses.value?.rows.map(\.pose.position) == [[0, 0, 0], [3, 0, 0]])
    #expect(capture.warnings.map(\.code) == [.corruptRecord])
    #expect(capture.depth.value?.description.frames == 1)
    #expect(!capture.completeness.isWhole)
  }

  @Test("Its family claims nothing else")
  func others() throws {
    let scratch = try ScratchCapture(named: "second")
    try scratch.write("{\"time\": 1}", to: "dots_00000.json")
    try scratch.write("x", to: "dots_00000.png")
    #expect(DotsReader.recognize(try FolderListing(of: scratch.folder)).isEmpty)
  }
}
