@testable import Captures
import SystemPackage
import TestSupport
import Testing

/// A small file cut at every byte: opening and decoding come to an end, and nothing that is told is
/// wrong.
@Suite("Record3D: files that are cut")
struct Record3DTruncationTests {
  @Test("Cut metadata is none")
  func metadata() throws {
    let scratch = try Record3DScratch()
    let bytes = try scratch.bytes(of: "metadata")
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: "metadata")
      let capture = try CaptureRegistry.builtIn.open(scratch.recognition(as: .record3D))
      #expect(capture.poses.value == nil)
      #expect(capture.intrinsics.value == nil)
      #expect(capture.frames.allSatisfy { $0.timestamp == nil })
      let code = length == 0 ? WarningCode.missingFile : .corruptRecord
      #expect(
        capture.warnings.contains { $0.code == code && $0.subject == "metadata" }, "\(length)")
    }
  }

  @Test("A cut picture is a hole", arguments: ["depth", "conf", "jpg"])
  func picture(ending: String) throws {
    let scratch = try Record3DScratch()
    let name = "rgbd/1.\(ending)"
    let bytes = try scratch.bytes(of: name)
    let subject = ["depth": "depth", "conf": "confidence", "jpg": "color"][ending] ?? ""
    let capture = try scratch.open()
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: name)
      let code = length == 0 ? "empty-record" : "corrupt-record"
      #expect(
        try Record3DScratch.warnings(of: capture) == ["\(code) \(subject)": 1], "\(length)")
    }
  }

  @Test("A cut archive has the pictures before the cut, unchanged")
  func archive() throws {
    let scratch = try Record3DScratch()
    let path = try scratch.archive()
    let bytes = try scratch.bytes(of: "../\(path.lastComponent?.string ?? "")")
    let whole = try Self.pictures(try Record3DScratch.open(path))
    #expect(whole.count == 4)
    var most = 0
    for length in stride(from: 0, to: bytes.count, by: 3) {
      try scratch.write(Array(bytes[..<length]), to: "../cut.r3d")
      let cut = scratch.outer.appending("cut.r3d")
      guard let capture = try? Record3DScratch.open(cut) else { continue }
      let found = try Self.pictures(capture)
      #expect(found.allSatisfy { whole[$0.key] == $0.value }, "\(length)")
      #expect(found.count >= most)
      most = max(most, found.count)
      let warnings = try Record3DScratch.warnings(of: capture)
      #expect(warnings["truncated-stream record3d"] == 1, "\(length)")
      #expect(!warnings.keys.contains { $0.hasPrefix("corrupt-record") }, "\(length) \(warnings)")
      #expect(!capture.completeness.isWhole)
    }
    #expect(most == 4)
  }

  /// Millimeters by frame.
  private static func pictures(_ capture: Capture) throws -> [Int: [UInt16]] {
    guard case .indexed(let source)? = capture.depth.value?.access else { return [:] }
    var pictures: [Int: [UInt16]] = [:]
    for record in 0..<source.recordCount {
      var pixels: [UInt16] = []
      if try source.decode(record: record, into: &pixels).hasPicture { pictures[record] = pixels }
    }
    return pictures
  }
}
