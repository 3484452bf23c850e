@testable import Captures
@testable import Core
import SystemPackage
import Testing

@Suite("MultiScan pairing of ARCore lines and depth")
struct MultiScanPairingTests {
  typealias Samples = MultiScanSamples

  /// `lines` and `depth` list what each line and frame shows; equal neighbors are copies.
  private func arCore(
    lines: [Int], depth: [Int], confidence: Int? = nil, foreignTimes: Int = 0
  ) throws -> MultiScanFolder {
    let folder = try MultiScanFolder()
    try folder.write(
      "\(Samples.stem).json",
      Samples.metadata(
        [
          Samples.stream("camera_info", "jsonl", frames: 99),
          Samples.stream("ARCore", "depth.zlib", frames: 99, #""resolution":[6,8]"#),
          Samples.stream("confidence_map", "confidence.zlib", frames: 99),
        ], unit: "mm"))
    let text = lines.enumerated().map { index, shown in
      // Copies made at stop carry times of another clock.
      let isCopy = index >= lines.count - foreignTimes
      return Samples.line(
        index, nanoseconds: isCopy ? Int64(index) : nil, meters: Double(shown) / 100)
    }
    try folder.write("\(Samples.stem).jsonl", text.joined(separator: "\n"))
    try folder.write(
      "\(Samples.stem).depth.zlib",
      Samples.deflated(depth.flatMap { Samples.depthFrame($0 * 50, pixels: 48) }))
    try folder.write(
      "\(Samples.stem).confidence.zlib",
      Samples.deflated(Samples.confidenceFrames(confidence ?? depth.count, pixels: 48)))
    return folder
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var lines: [Int]
    var depth: [Int]
    var confidence: Int?
    /// Expected.
    var firstFrame: Int
    var kept: (lines: Int, depth: Int, confidence: Int)
    var frames: Int
    var filler: Int
    var testDescription: String { name }
  }

  static let cases = [
    Case(
      name: "depth as early as the lines", lines: [0, 1, 2], depth: [0, 1, 2], firstFrame: 0,
      kept: (3, 3, 3), frames: 3, filler: 0),
    Case(
      name: "depth two lines late", lines: [0, 1, 2, 3, 4], depth: [2, 3, 4], firstFrame: 2,
      kept: (5, 3, 3), frames: 5, filler: 0),
    Case(
      name: "late depth, copies at the end", lines: [0, 1, 2, 3, 3, 3], depth: [1, 2, 3, 3, 3],
      firstFrame: 1, kept: (4, 3, 3), frames: 4, filler: 2),
    Case(
      name: "a still camera at the end: the smaller number counts",
      lines: [0, 1, 2, 2, 2, 2], depth: [0, 1, 2, 3, 3, 3], firstFrame: 0,
      kept: (4, 4, 4), frames: 4, filler: 2),
    Case(
      name: "copies in the middle stay", lines: [0, 1, 1, 2], depth: [0, 1, 1, 2], firstFrame: 0,
      kept: (4, 4, 4), frames: 4, filler: 0),
    Case(
      name: "nothing but copies", lines: [7, 7, 7], depth: [7, 7, 7], firstFrame: 0,
      kept: (1, 1, 1), frames: 1, filler: 2),
    Case(
      name: "more depth than lines", lines: [0, 1], depth: [0, 1, 2, 3], firstFrame: 0,
      kept: (2, 4, 4), frames: 4, filler: 0),
    Case(
      name: "confidence that lost its copies and one frame more",
      lines: [0, 1, 2, 3, 3, 3], depth: [1, 2, 3, 3, 3], confidence: 2, firstFrame: 1,
      kept: (4, 3, 2), frames: 4, filler: 2),
    Case(
      name: "confidence that lost one copy", lines: [0, 1, 2, 3, 3, 3], depth: [1, 2, 3, 3, 3],
      confidence: 4, firstFrame: 1, kept: (4, 3, 3), frames: 4, filler: 2),
    Case(
      name: "no lines", lines: [], depth: [0, 1, 1], firstFrame: 0, kept: (0, 3, 3), frames: 3,
      filler: 0),
    Case(
      name: "no depth frames", lines: [0, 1, 1], depth: [], firstFrame: 3, kept: (3, 0, 0),
      frames: 3, filler: 0),
  ]

  @Test("Depth starts late, copies at the end are dropped", arguments: cases)
  func pairing(_ expected: Case) throws {
    let folder = try arCore(
      lines: expected.lines, depth: expected.depth, confidence: expected.confidence,
      foreignTimes: expected.filler)
    let capture = try folder.open()
    #expect(capture.generation == "android-arcore")
    let depth = try #require(capture.depth.value)
    let confidence = try #require(capture.confidence.value)
    #expect(depth.firstFrame == expected.firstFrame)
    #expect(confidence.firstFrame == expected.firstFrame)
    // A file without any line counts as absent, which is told.
    let isEmpty = expected.lines.isEmpty
    #expect(capture.poses.value?.rows.count == (isEmpty ? nil : expected.kept.lines))
    #expect(depth.access.recordCount == expected.kept.depth)
    #expect(depth.description.frames == expected.kept.depth)
    #expect(confidence.access.recordCount == expected.kept.confidence)
    #expect(capture.frames.count == expected.frames)
    #expect(capture.total(.trailingData, "depth") == expected.filler)
    #expect(
      capture.totals(except: [.trailingData, .calibrationMissing])
        == (isEmpty ? [.missingFile: 1] : [:]))
    // No time of a copy is left.
    #expect(capture.frames.compactMap(\.timestamp).allSatisfy { $0.nanoseconds >= 1_000_000_000 })
    for (index, frame) in capture.frames.enumerated() {
      let hasDepth = depth.firstFrame..<depth.firstFrame + expected.kept.depth ~= index
      #expect(frame.depthTimestamp == (hasDepth ? frame.timestamp : nil))
    }
  }

  @Test("Depth that is cut beside whole confidence begins where confidence does")
  func cutDepth() throws {
    let folder = try arCore(lines: [0, 1, 2, 3, 3, 3], depth: [1, 2, 3, 3, 3], foreignTimes: 2)
    let bytes = try folder.bytes(of: "\(Samples.stem).depth.zlib")
    try folder.write("\(Samples.stem).depth.zlib", bytes.dropLast(bytes.count / 3))
    let capture = try folder.open()
    #expect(capture.total(.truncatedStream, "depth") == 1)
    #expect(capture.depth.value?.firstFrame == 1)
    #expect((1...3).contains(capture.depth.value?.access.recordCount ?? 0))
    #expect(capture.confidence.value?.access.recordCount == 3)
    #expect(capture.poses.value?.rows.count == 4 && capture.frames.count == 4)
  }

  @Test(
    "Depth begins with the first line where nothing whole says how much of its end is missing",
    arguments: [false, true])
  func cutStreams(hasConfidence: Bool) throws {
    let folder = try arCore(lines: Array(0..<12), depth: Array(2..<12))
    let bytes = try folder.bytes(of: "\(Samples.stem).depth.zlib")
    try folder.write("\(Samples.stem).depth.zlib", bytes.prefix(bytes.count / 2))
    let name = "\(Samples.stem).confidence.zlib"
    let confidence = try folder.bytes(of: name)
    try folder.write(name, hasConfidence ? Array(confidence.prefix(confidence.count / 2)) : [])
    let capture = try folder.open()
    #expect(capture.depth.value?.firstFrame == 0)
    #expect((1...9).contains(capture.depth.value?.access.recordCount ?? 0))
  }

  @Test("A broken last line is no copy")
  func brokenLastLine() throws {
    let folder = try arCore(lines: [0, 1, 1, 1], depth: [0, 1, 1, 1])
    let text = try folder.bytes(of: "\(Samples.stem).jsonl")
    try folder.write("\(Samples.stem).jsonl", text.dropLast(5))
    let capture = try folder.open()
    #expect(capture.total(.trailingData) == 0)
    #expect(capture.total(.corruptRecord, "poses") == 1)
    #expect(capture.frames.count == 4)
  }
}

@Suite("MultiScan: as many pictures as lines, or nearly")
struct MultiScanEqualCountTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var faults: [String]
    /// Lines that the file lacks, by number.
    var lost: Set<Int> = []
    /// How many more pictures than lines there are.
    var more = 0
    var isDoubtful = false
  }

  static let cases = [
    Case(testDescription: "nothing is lost", faults: []),
    Case(testDescription: "one line is broken", faults: ["broken-line"]),
    Case(testDescription: "camera frames are dropped for both", faults: ["gap"]),
    Case(
      testDescription: "the last pictures and lines in the middle are lost",
      faults: ["short-video"], lost: [3, 5], isDoubtful: true),
    Case(
      testDescription:
        "the same beside dropped frames: with their times there are as many frames as depth has",
      faults: ["short-video", "gap"], lost: [2, 3]),
    Case(
      testDescription: "the last pictures and lines are lost, where depth goes on",
      faults: ["short-video"], lost: [8, 9], isDoubtful: true),
    Case(
      testDescription: "all lines fit pictures, but depth shows that lines are lost",
      faults: ["short-video"], lost: [0, 1, 4], more: 1, isDoubtful: true),
  ]

  @Test("Times that contradict the order of as many pictures as lines are told", arguments: cases)
  func times(_ expected: Case) throws {
    let made = MadeCapture(family: "multiscan", generation: "ios-lidar", faults: expected.faults)
    let scratch = try ScratchCapture(copyOf: try made.folder())
    let name = try #require(scratch.names.first { $0.hasSuffix(".jsonl") })
    let lines = try scratch.text(of: name).split(separator: "\n", omittingEmptySubsequences: true)
    let kept = lines.enumerated().filter { !expected.lost.contains($0.offset) }.map(\.element)
    try scratch.write(kept.joined(separator: "\n") + "\n", to: name)
    let capture = try scratch.open()
    let color = try #require(capture.color.value)
    #expect(color.description.frames == kept.count + expected.more)
    #expect(
      (capture.total(.pairingApproximate, "color") > 0) == expected.isDoubtful,
      "\(capture.warnings.map(\.message))")
    guard !expected.isDoubtful else { return }
    #expect(color.frameOfPicture == nil)
    let broken = expected.faults == ["broken-line"] ? [4] : []
    #expect(
      capture.poses.value?.rows.map(\.frame)
        == capture.frames.indices.filter { !expected.lost.contains($0) && !broken.contains($0) })
  }

  @Test(
    "Where pictures and lines lack different frames, the message says how many frames there are")
  func framesInAll() throws {
    let made = MadeCapture(
      family: "multiscan", generation: "ios-lidar", faults: ["short-video", "gap"])
    let scratch = try ScratchCapture(copyOf: try made.folder())
    let name = try #require(scratch.names.first { $0.hasSuffix(".jsonl") })
    let lines = try scratch.text(of: name).split(separator: "\n")
    let kept = lines.enumerated().filter { $0.offset != 2 }.map(\.element)
    try scratch.write(kept.joined(separator: "\n") + "\n", to: name)
    try scratch.remove(try #require(scratch.names.first { $0.hasSuffix("json") && $0 != name }))
    let told = try scratch.open().warnings.first {
      $0.code == .frameCountMismatch && $0.subject == "color"
    }
    #expect(
      told?.message.hasPrefix("8 found, 9 expected, 10 frames in all: ") == true,
      "\(told?.message ?? "nothing")")
  }

  @Test(
    "Frames depend on depth where it may have more of them than lines or pictures",
    arguments: [("ios-lidar", 10, false), ("ios-lidar", 7, true), ("ios-stereo", 10, true)])
  func parts(generation: String, lines: Int, hasDepth: Bool) throws {
    let made = MadeCapture(family: "multiscan", generation: generation)
    let scratch = try ScratchCapture(copyOf: try made.folder())
    if let name = scratch.names.first(where: { $0.hasSuffix(".jsonl") }) {
      let kept = try scratch.text(of: name).split(separator: "\n").prefix(lines)
      try scratch.write(kept.joined(separator: "\n") + "\n", to: name)
    }
    let files = try #require(try scratch.open().files[.frames])
    #expect(files.contains { $0.string.hasSuffix(".depth.zlib") } == hasDepth)
  }

  @Test(
    "Where depth of ARCore starts depends on confidence, which tells how much of cut depth is missing",
    arguments: [CapturePart.depth, .confidence, .poses, .frames])
  func lateConfidence(part: CapturePart) throws {
    let made = MadeCapture(family: "multiscan", generation: "android-arcore")
    let files = try #require(try ScratchCapture(copyOf: try made.folder()).open().files[part])
    #expect(files.contains { $0.string.hasSuffix(".confidence.zlib") })
  }
}
