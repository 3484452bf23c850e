import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core

@Suite("Where the frames of a ScanNet depth file end")
struct ScanNetDepthEndTests {
  struct Example: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Records, all of 1000 bytes.
    var records: Int
    /// Bytes behind the last one.
    var rest: Int
    var declared: Int?
    var expected: ScanNetDepthEnd?

    init(
      _ name: String, records: Int, rest: Int, declared: Int?, expected: (Int, Int, Int)?
    ) {
      testDescription = name
      self.records = records
      self.rest = rest
      self.declared = declared
      self.expected = expected.map { ScanNetDepthEnd(frames: $0.0, blocks: $0.1, times: $0.2) }
    }
  }

  @Test(
    "The best fit is taken",
    arguments: [
      Example("two blocks", records: 10, rest: 160, declared: 10, expected: (10, 2, 10)),
      Example("one block", records: 10, rest: 80, declared: 10, expected: (10, 1, 10)),
      Example("no declaration", records: 10, rest: 160, declared: nil, expected: (10, 2, 10)),
      Example("two short", records: 10, rest: 128, declared: 8, expected: (10, 2, 8)),
      Example("two ahead", records: 10, rest: 192, declared: 12, expected: (10, 2, 12)),
      Example("three short", records: 10, rest: 112, declared: 7, expected: nil),
      Example("far from the truth", records: 10, rest: 160, declared: 99, expected: (10, 2, 10)),
      Example(
        "three off is not believed", records: 10, rest: 144, declared: 13, expected: (10, 2, 9)),
      Example("two off contradicts", records: 10, rest: 144, declared: 12, expected: nil),
      Example("no times", records: 10, rest: 0, declared: nil, expected: nil),
      Example("no whole time", records: 10, rest: 4, declared: nil, expected: nil),
      // Four records of two frames' times each could be one block of four or two of two.
      Example("declared decides", records: 3, rest: 32, declared: 4, expected: (3, 1, 4)),
      Example("two blocks first", records: 3, rest: 32, declared: nil, expected: (3, 2, 2)),
      Example("no record", records: 0, rest: 16, declared: 1, expected: nil),
      // 1000 bytes are 125 times; the record before them and they are 125 pairs: pairs go first.
      Example("one step back", records: 124, rest: 1000, declared: 125, expected: (123, 2, 125)),
    ])
  func best(example: Example) {
    let cuts = (0...example.records).map { $0 * 1000 }
    let end = ScanNetDepthEnd.best(
      cuts: cuts, byteCount: example.records * 1000 + example.rest,
      declaredTimes: example.declared)
    #expect(end == example.expected)
  }

  @Test("A time that looks like a record's length is recognized", arguments: 1...3)
  func stepsTooFar(steps: Int) {
    // 64 frames; the walk took `steps` pieces of the 1024 bytes of times for records.
    let frames = (0...64).map { $0 * 1000 }
    let cuts = frames + (1...steps).map { 64_000 + 100 * $0 }
    for declared in [64, nil] {
      #expect(
        ScanNetDepthEnd.best(cuts: cuts, byteCount: 64_000 + 1024, declaredTimes: declared)
          == ScanNetDepthEnd(frames: 64, blocks: 2, times: 64))
    }
  }

  /// Lays out the bytes of a scratch capture.
  static func layout(_ scratch: ScanNetScratch, declared: Int?) -> ScanNetDepthLayout {
    let bytes = scratch.depthBytes()
    return ScanNetDepthLayout(bytes.span.bytes, pixelCount: 768, declaredTimes: declared)
  }

  @Test("Times are those of the file, cut to the frames")
  func times() {
    var scratch = ScanNetScratch(frames: 5)
    let whole = Self.layout(scratch, declared: 5)
    #expect(whole.depthTimes == scratch.depthTimes)
    #expect(whole.colorTimes == scratch.colorTimes)
    scratch.depthTimes.append(7)
    scratch.colorTimes.append(8)
    let longer = Self.layout(scratch, declared: 6)
    #expect(longer.depthTimes == Array(scratch.depthTimes.prefix(5)))
    #expect(longer.colorTimes == Array(scratch.colorTimes.prefix(5)))
  }

  @Test("Cut anywhere, whole frames and whole times before the cut are found, and none after")
  func everyCut() {
    let scratch = ScanNetScratch(frames: 6)
    let bytes = scratch.depthBytes()
    let ends = (0...6).map { scratch.recordOffset($0) }
    for length in 0...bytes.count {
      let part = Array(bytes[..<length])
      for declared in [6, nil] {
        let layout = ScanNetDepthLayout(part.span.bytes, pixelCount: 768, declaredTimes: declared)
        let whole = ends.count { $0 <= length } - 1
        #expect(layout.records.count == whole, "\(length) bytes")
        guard declared != nil else { continue }
        let times = max(0, length - ends[6]) / 8
        #expect(layout.depthTimes.count == min(6, times), "\(length) bytes")
        #expect(layout.colorTimes.count == min(6, max(0, times - 6)), "\(length) bytes")
        // Six times and no more could be a single block.
        let isCut = length < bytes.count && !ends.contains(length) && length != ends[6] + 48
        #expect((layout.truncatedAt != nil) == isCut, "\(length) bytes")
        #expect(layout.trailingAt == nil)
      }
    }
  }

  @Test("Damaged lengths cost no frame", arguments: 0..<6)
  func damagedLength(record: Int) {
    let scratch = ScanNetScratch(frames: 6)
    let offset = scratch.recordOffset(record)
    let length = scratch.payloads[record].count
    let wrong: [UInt32] = [
      0, 1, .max, 0x8000_0000, 1441, UInt32(length - 1), UInt32(length + 1), UInt32(length + 40),
      22,
    ]
    for value in wrong {
      var bytes = scratch.depthBytes()
      bytes.replaceSubrange(offset..<(offset + 4), with: ScanNetScratch.bytes(value))
      let layout = ScanNetDepthLayout(bytes.span.bytes, pixelCount: 768, declaredTimes: 6)
      #expect(layout.records.count == 6, "length \(value)")
      #expect(
        layout.records.map(\.hasDamagedLength) == (0..<6).map { $0 == record }, "length \(value)")
      #expect(layout.records.map(\.offset) == (0..<6).map { scratch.recordOffset($0) })
      #expect(layout.depthTimes == scratch.depthTimes)
    }
  }

  @Test("Random bytes are no reason to trap, whatever is declared")
  func randomBytes() {
    var state: UInt64 = 99
    for round in 0..<400 {
      let bytes = (0..<(round * 5)).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
      }
      for declared in [nil, 0, 1, 2, 1000, Int.max] {
        for pixels in [1, 64, 768, 640 * 480] {
          let layout = ScanNetDepthLayout(
            bytes.span.bytes, pixelCount: pixels, declaredTimes: declared)
          #expect(layout.records.allSatisfy { $0.end <= bytes.count })
          #expect(layout.depthTimes.count <= layout.records.count)
        }
      }
    }
  }
}

@Suite("Damaged ScanNet files")
struct ScanNetDamageTests {
  /// Depth is decoded at every eighth length; `make soak` tries all of them.
  @Test(
    "Cut at any byte, a file costs what lay behind the cut", arguments: ["imu", "camera", "txt"])
  func truncated(ending: String) throws {
    var scratch = ScanNetScratch(frames: 4)
    // Short, so that every byte can be tried.
    scratch.imuTimes.removeLast(scratch.imuTimes.count - 5)
    let folder = try TemporaryFolder()
    try scratch.write(to: folder.path)
    let name = "\(scratch.stem).\(ending)"
    let whole = try folder.bytes(of: name)
    let recognition = try #require(
      ScanNetReader.recognize(try FolderListing(of: folder.path)).first)
    for length in Rounds.every(3, of: Array(0...whole.count)) {
      try folder.write(Array(whole[..<length]), to: name)
      let capture = try ScanNetReader.open(recognition)
      if Rounds.isSoak || length % 8 == 0 { _ = try capture.depth.value?.digests() }
      switch ending {
      case "imu": #expect((capture.imu.value?.samples.count ?? 0) == length / 128 * 5)
      case "camera":
        #expect((capture.cameraSettings.value?.rows.count ?? 0) == max(0, length - 2) / 20)
      default: #expect(capture.color.value != nil && capture.imu.value != nil)
      }
    }
  }

  @Test("Many threads decode from one source")
  func threads() async throws {
    let folder = try MadeCapture(family: "scannet", frames: 6).folder()
    let depth = try #require(try Capture.found(at: folder).depth.value)
    let (expected, source) = (try depth.digests(), try depth.indexed)
    try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for index in 0..<(8 * source.recordCount) {
        group.addTask {
          var pixels: [UInt16] = [1]
          let record = index % source.recordCount
          _ = try source.decode(record: record, into: &pixels)
          return (record, Digest(ofPixels: pixels).hex)
        }
      }
      for try await (record, digest) in group { #expect(digest == expected[record]) }
    }
  }
}

@Suite("ScanNet metadata")
struct ScanNetMetadataTests {
  static func value(_ text: String) -> String? { ScanNetMetadata(Array(text.utf8)).text("key") }

  @Test(
    "A value is everything behind the first equals sign, without the blanks around it",
    arguments: [
      ("key = value", "value"), ("key=value\r\n", "value"),
      ("key =a=b #2; \"c\" // d = e\r\n", nil),
      ("\tkey\t=\t value \t\r", "value"), ("key = ", ""), ("key =", ""),
      ("other = 1\nkey = two words  \n", "two words"), ("key = 1\nkey = 2", "2"),
      ("\u{FEFF}key = 1", "1"), ("key = Lab’s iPad\r\n", "Lab’s iPad"), ("key value", nil),
      ("= value", nil), ("", nil), ("\r\n\r\n", nil), ("# key = 1", nil),
    ] as [(String, String?)])
  func values(text: String, expected: String?) {
    let awkward = text.contains("a=b") ? "a=b #2; \"c\" // d = e" : expected
    #expect(Self.value(text) == awkward)
  }

  @Test(
    "Counts are integers of zero or more",
    arguments: [
      ("0", 0), ("17", 17), ("17.000000", 17), ("-1", nil), ("1.5", nil), ("nan", nil),
      ("1e400", nil), ("many", nil), ("", nil), ("9223372036854775807", .max),
      ("9223372036854775808", nil),
    ] as [(String, Int?)])
  func counts(text: String, expected: Int?) {
    #expect(ScanNetMetadata(Array("key = \(text)".utf8)).count("key") == expected)
  }

  @Test(
    "Sizes are those of a camera",
    arguments: [("640", 640), ("0", nil), ("8192", 8192), ("8193", nil), ("-5", nil)]
      as [(String, Int?)])
  func sizes(text: String, expected: Int?) {
    #expect(ScanNetMetadata(Array("key = \(text)".utf8)).pixels("key") == expected)
  }

  @Test(
    "Text that is no rigid transform is none",
    arguments: [
      "", "1 2 3", "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0", "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 nan",
      "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", "2 0 0 0 0 2 0 0 0 0 2 0 0 0 0 1",
      "1 0 0 0 0 1 0 0 0 0 -1 0 0 0 0 1", "a b c d e f g h i j k l m n o p",
    ])
  func noTransform(text: String) {
    let metadata = ScanNetMetadata(Array("colorToDepthExtrinsics = \(text)".utf8))
    #expect(metadata.transform("colorToDepthExtrinsics") == nil)
    let warnings = WarningCollector()
    metadata.check(file: "x.txt", into: warnings)
    #expect(warnings.warnings.contains { $0.subject == "colorToDepthExtrinsics" })
  }

  @Test("A number that is not finite is reported as such")
  func nonFinite() {
    let warnings = WarningCollector()
    ScanNetMetadata(Array("fx_color = inf\nfy_color = x".utf8))
      .check(file: "x.txt", into: warnings)
    let codes = Dictionary(uniqueKeysWithValues: warnings.warnings.map { ($0.subject, $0.code) })
    #expect(codes["fx_color"] == .nonFiniteValue)
    #expect(codes["fy_color"] == .missingKey)
  }

  @Test(
    "The date is that of the stem; the hour is not known",
    arguments: [
      ("2017-03-14_05-26-54__device", "2017-03-14"), ("2017-03-14", "2017-03-14"),
      ("2017-03-14T05", nil), ("2017-03-144", nil), ("2017-13-14_05", nil), ("2017-03-00_05", nil),
      ("2017_03_14_05", nil), ("scan", nil), ("", nil), ("２017-03-14", nil), ("2017-03-1é_", nil),
    ] as [(String, String?)])
  func date(stem: String, expected: String?) {
    #expect(ScanNetCapture.date(ofStem: stem) == expected)
  }

  @Test("The extrinsics are inverted; inverse ones are used unchanged")
  func direction() throws {
    func calibration(_ text: String) -> DepthCalibration {
      ScanNetMetadata(Array(text.utf8)).calibration(
        depthSize: PictureSize(width: 640, height: 480), color: nil)
    }
    // A quarter turn about z, then a step.
    let matrix = "0 -1 0 0.1 1 0 0 0.2 0 0 1 0.3 0 0 0 1"
    let turned = calibration("colorToDepthExtrinsics = \(matrix)")
    let colorFromDepth = try #require(turned.colorFromDepth)
    #expect(colorFromDepth.apply(to: [0.1, 0.2, 0.3]) == [0, 0, 0])
    #expect(colorFromDepth.apply(to: [0.1, 1.2, 0.3]) == [1, 0, 0])
    #expect(!turned.registered)
    let same = calibration("depthToColorExtrinsics = \(matrix)")
    #expect(same.colorFromDepth?.apply(to: [0, 0, 0]) == [0.1, 0.2, 0.3])
    #expect(calibration("fx_color = 1").colorFromDepth == nil)
    let identity = "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"
    for key in ["colorToDepthExtrinsics", "depthToColorExtrinsics"] {
      let registered = calibration("\(key) = \(identity) \r")
      #expect(registered.registered)
      #expect(registered.colorFromDepth == .identity)
    }
  }

  @Test(
    "k1 to k5 of a camera are its lens, in the order k1, k2, p1, p2, k3; zeros are none",
    arguments: [
      ("", [], [], [:]), ("k1_color = 0\nk2_color=0.000000\nk1_depth = 0", [], [], [:]),
      (
        "k1_color = -0.2\nk2_color = 0.07\r\nk3_color = 0.001\nk4_color = -0.002\nk5_color = 1e-3",
        [-0.2, 0.07, 0.001, -0.002, 0.001], [], [:]
      ),
      ("k3_depth = 0.5\nk1_color = 0.1", [0.1], [0, 0, 0.5], [:]),
      (
        "k1_color = 0.1\nk2_color = many\nk1_depth = 0.2", [], [0.2],
        ["k2_color": .missingKey]
      ),
      (
        "k1_color = nan\nk2_depth = 1e999", [], [],
        ["k1_color": .nonFiniteValue, "k2_depth": .nonFiniteValue]
      ),
      ("k6_color = 0.1\nK1_color = 1", [], [], ["k6_color": .unknownKey, "K1_color": .unknownKey]),
    ] as [(String, [Double], [Double], [String: WarningCode])])
  func lens(text: String, color: [Double], depth: [Double], told: [String: WarningCode]) {
    let metadata = ScanNetMetadata(Array(text.utf8))
    let calibration = metadata.calibration(
      depthSize: PictureSize(width: 640, height: 480), color: nil)
    #expect(calibration.colorDistortion == LensDistortion(openCVOrder: color))
    #expect(calibration.depthDistortion == LensDistortion(openCVOrder: depth))
    let warnings = WarningCollector()
    metadata.check(file: "x.txt", into: warnings)
    let known = Set(ScanNetMetadata.requiredKeys)
    #expect(
      Dictionary(
        uniqueKeysWithValues: warnings.warnings.filter { !known.contains($0.subject) }
          .map { ($0.subject, $0.code) }) == told)
  }
}
