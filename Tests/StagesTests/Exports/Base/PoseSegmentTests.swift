import FoundationEssentials
import StageSupport
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Stages

@Suite("Segments of a capture")
struct PoseSegmentTests {
  /// Frames 33 ms apart, a centimeter from one to the next, and `jump` meters more before each of `jumps`.
  private static func capture(jumps: [Int] = [], jump: Double = 1) -> GridCapture {
    var capture = GridCapture(frames: 12)
    var x = 5.0
    for frame in 0..<12 {
      x += jumps.contains(frame) ? jump : 0.01
      capture.frames[frame].timestamp = Timestamp(nanoseconds: Int64(frame) * 33_000_000)
      capture.poses[frame] = Pose(
        position: [x, 2, -3], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))
    }
    return capture
  }

  private struct Document: Decodable {
    struct Segment: Decodable, Equatable {
      var first: Int
      var last: Int
      var poses: Int
      var cause: String?
    }

    var leftOut: [String: Int]
    var segment: Int?
    var segments: [Segment]?
  }

  private static func document(_ export: Export) throws -> Document {
    try JSONDecoder().decode(Document.self, from: Data(try export.bytes("export.json")))
  }

  @Test(
    "A jump ends one; longest is that with most poses, the first of equal ones",
    arguments: [
      ([4], "longest", 2, 4...11), ([4], "1", 1, 0...3), ([4], "2", 2, 4...11),
      ([6], "longest", 1, 0...5), ([3, 8], "2", 2, 3...7), ([3, 8], "3", 3, 8...11),
      ([3, 4], "2", 2, 3...3), ([], "longest", 1, 0...11), ([], "1", 1, 0...11),
    ] as [([Int], String, Int, ClosedRange<Int>)])
  func chosen(jumps: [Int], choice: String, number: Int, frames: ClosedRange<Int>) throws {
    let capture = Self.capture(jumps: jumps)
    for kind in [ExportColmap.self, ExportTUM.self, ExportNerfstudio.self] as [any Stage.Type] {
      let export = try capture.export(kind, ["segment": choice])
      #expect(try export.frames == Array(frames), "\(kind.name)")
      let document = try Self.document(export)
      #expect(document.segment == number && document.segments?.count == jumps.count + 1)
      let others = 12 - frames.count
      #expect(document.leftOut == (others == 0 ? [:] : ["not-selected": others]))
    }
  }

  @Test("export.json and README.txt say where they are cut, and why")
  func said() throws {
    let export = try Self.capture(jumps: [3, 8]).export(ExportTUM.self, ["segment": "2"])
    let jump = "the camera moves 1 m within 33 ms"
    #expect(
      try Self.document(export).segments == [
        Document.Segment(first: 0, last: 2, poses: 3),
        Document.Segment(first: 3, last: 7, poses: 5, cause: jump),
        Document.Segment(first: 8, last: 11, poses: 4, cause: jump),
      ])
    let readme = try export.text("README.txt").replacing("\n  ", with: " ")
    #expect(
      readme.contains(
        "Only segment 2 of 3 is here, the frames from 3 to 7: at frame 3 \(jump), and at frame 8 \(jump)."
      ),
      "\(readme)")
  }

  @Test(
    "The limit is that of pose-jump: 10 m/s, or 167 mm from one frame to the next without times")
  func limit() throws {
    func count(_ capture: GridCapture) throws -> Int? {
      try Self.document(capture.export(ExportColmap.self, ["segment": "all"])).segments?.count
    }
    #expect(try count(Self.capture(jumps: [5], jump: 0.32)) == 1)
    #expect(try count(Self.capture(jumps: [5], jump: 0.34)) == 2)
    for (jump, segments) in [(0.16, 1), (0.18, 2)] {
      var capture = Self.capture(jumps: [5], jump: jump)
      for frame in 0..<12 { capture.frames[frame].timestamp = nil }
      #expect(try count(capture) == segments, "\(jump)")
    }
    // Frames without a pose are of the segment before; in their time the camera may have moved so far.
    var hole = Self.capture(jumps: [5])
    hole.poses[4] = nil
    #expect(try count(hole) == 2)
    for frame in 2..<5 { hole.poses[frame] = nil }
    #expect(try count(hole) == 1)
  }

  @Test("Where an app has recorded that tracking had not begun, that is a segment of its own")
  func untracked() throws {
    var capture = Self.capture()
    for frame in 0..<5 {
      capture.poses[frame]?.position = [0, 0, 0]
      capture.poses[frame + 5]?.position = [0, 0, 0.01 * Double(frame + 1)]
    }
    for frame in 10..<12 { capture.poses[frame]?.position = [0, 0, 0.06] }
    let export = try capture.export(ExportTUM.self, ["segment": "longest"])
    #expect(try export.frames == Array(5...11))
    #expect(
      try Self.document(export).segments?.last
        == Document.Segment(first: 5, last: 11, poses: 7, cause: "tracking begins"))
  }

  @Test("all lists them and leaves every frame; unset, nothing is said or recorded")
  func all() throws {
    let capture = Self.capture(jumps: [4])
    let all = try capture.export(ExportTUM.self, ["segment": "all"])
    let plain = try capture.export(ExportTUM.self)
    #expect(try all.frames == plain.frames)
    #expect(try Self.document(all).segments?.count == 2)
    #expect(try Self.document(all).segment == nil)
    #expect(try !plain.text("export.json").contains("segment"))
    #expect(try !plain.text("README.txt").contains("segment"))
    #expect(plain.output.artifact.record.parameters["segment"] == nil)
    let differing = Set(all.output.digests).symmetricDifference(plain.output.digests)
    #expect(
      differing.allSatisfy { $0.hasPrefix("export.json") || $0.hasPrefix("README.txt") },
      "\(differing.sorted())")
  }

  @Test("A number that no segment has is not possible; what is no choice is refused")
  func refused() throws {
    let thrown = #expect(throws: StageDoesNotApply.self) {
      try Self.capture(jumps: [4]).export(ExportTUM.self, ["segment": "3"])
    }
    #expect(thrown?.description == "no segment 3: the poses have 2 segments")
    let parameter = PoseSegments.parameter.description
    for text in ["0", "-1", "shortest", ""] {
      #expect(throws: ParameterError.self, "\(text)") { try parameter.value(from: text) }
    }
  }
}

@Suite("What exports say of the world of the poses")
struct WorldTests {
  @Test(
    "Every format with poses says what is up, or that it is not known",
    arguments: [
      (PoseWorld.yUp, "(y up)", "y"), (.zUp, "(z up)", "z"), (.firstCamera, "is not known", nil),
    ] as [(PoseWorld, String, String?)])
  func everyFormat(world: PoseWorld, words: String, axis: String?) throws {
    var all = EveryFormat()
    all.setWorld(world)
    let others = ["(y up)", "(z up)", "has y up", "has z up", "z is up"].filter { $0 != words }
    for kind in EveryFormat.kinds {
      guard let written = try all.export(kind), written.readme.contains("The poses are") else {
        continue
      }
      // nerfstudio turns the world, KITTI's is the first camera's, and a bag has a second one.
      if world == .firstCamera {
        for other in others {
          #expect(!written.readme.contains(other), "\(kind.name) says \(other)")
        }
      }
      let hasOwn = kind == ExportNerfstudio.self || kind == ExportKITTI.self
      if !hasOwn || world == .firstCamera {
        #expect(written.readme.contains(words), "\(kind.name): \(written.readme)")
      }
    }
    let bag = try #require(try all.export(ExportMCAP.self))
    #expect(bag.manifest.contains("\"worldUp\"") == (axis != nil))
    if let axis { #expect(bag.manifest.contains("\"worldUp\" : \"\(axis)\"")) }
    #expect(bag.readme.contains("There is no map") == (axis == nil))
  }
}
