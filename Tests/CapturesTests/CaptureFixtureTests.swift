@testable import Captures
@testable import Core
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

/// What a fixture's `expected.json` says of a capture, as far as the reader decides it.
private struct CaptureExpectation: Decodable {
  struct Stream: Decodable {
    var file, encoding: String?
    var width, height, frames, declaredFrames: Int?
  }
  struct Times: Decodable {
    var frame, color, depth: [Int64?]
  }
  struct Warning: Decodable {
    var code, subject: String
    var count: Int
  }
  struct IMU: Decodable {
    var counts: [String: Int]
    var rows: Int
    var first, last: [Row]
  }
  /// Cells of a table: numbers and one text.
  struct Row: Decodable {
    var numbers: [Double?] = []
    var text: String?

    init(from decoder: any Decoder) throws {
      var cells = try decoder.unkeyedContainer()
      while !cells.isAtEnd {
        if let word = try? cells.decode(String.self) {
          text = word
        } else {
          numbers.append(try cells.decodeIfPresent(Double.self))
        }
      }
    }
  }

  var family, generation: String
  var input, captureId: String?
  var frames, colorFrames: Int
  /// By name; `nil` for a stream that is not there. Those of samples state no frames.
  var streams: [String: Stream?]
  var timestampsNs: Times
  var depthSha256, confidenceSha256: [String?]?
  var colorIndex: [Int?]
  var poses, intrinsics, cameraSettings: [Row]
  var geo: [Row]?
  var imu: IMU
  var warnings: [Warning]
  var mustFail: [String]
}

/// A capture of the fixtures, opened, with every picture decoded.
private struct OpenedFixture {
  let expected: CaptureExpectation
  let capture: Capture
  let scan: StreamScan
  let depth, confidence: [String?]
  /// Frames whose color picture is there; of one file each, those that can be decoded.
  var color: [Int] = []

  init(_ fixture: FixtureCase) throws {
    expected = try fixture.json(CaptureExpectation.self, from: "expected.json")
    let place = expected.input.map { fixture.folder.pushing(FilePath($0)) } ?? fixture.capture
    let found = try #require(CaptureFinder(.builtIn).find(place).captures.first)
    #expect(found.family.rawValue == expected.family)
    capture = try CaptureRegistry.builtIn.open(found)
    scan = try StreamScan(capture, budget: CoreBudget(cores: 2))
    let frames = expected.frames
    depth = try capture.depth.value.map { try Self.digests($0, frames) } ?? []
    confidence = try capture.confidence.value.map { try Self.digests($0, frames) } ?? []
    guard let stream = capture.color.value else { return }
    let count = stream.description.frames ?? 0
    var pictures = Array(0..<count)
    if case .pictures(let files) = stream.source {
      pictures = try (0..<files.count).filter { try files.decode($0).picture != nil }
    }
    color = pictures.map { stream.frameOfPicture?[$0] ?? $0 }
  }

  /// By frame; `nil` without a picture.
  private static func digests<Pixel: FixedWidthInteger>(
    _ stream: PictureStream<Pixel>, _ frames: Int
  ) throws -> [String?] {
    var digests = [String?](repeating: nil, count: frames)
    var pixels: [Pixel] = []
    func take(_ outcome: RecordOutcome, _ record: Int) {
      let frame = stream.firstFrame + record
      guard outcome.hasPicture, digests.indices.contains(frame) else { return }
      let bytes = pixels.flatMap { pixel in withUnsafeBytes(of: pixel.littleEndian, Array.init) }
      digests[frame] = Digest(of: bytes).hex
    }
    switch stream.access {
    case .indexed(let source):
      for record in 0..<source.recordCount {
        take(try source.decode(record: record, into: &pixels), record)
      }
    case .ordered(let source):
      let reader = try source.makeReader()
      for record in 0..<source.recordCount {
        if let outcome = try reader.next(into: &pixels) { take(outcome, record) }
      }
    }
    return digests
  }
}

/// Captures by an independent encoder, read as their truth says.
@Suite("Fixtures of the families with depth or poses by frame", .enabled(if: Fixtures.arePresent))
struct CaptureFixtureTests {
  static let cases = ["arkit-scanner", "multiscan", "stray-scanner", "3d-scanner-app", "record3d"]
    .flatMap(Fixtures.cases(of:))

  @Test("Frames, times, pictures and streams are the expected ones", arguments: cases)
  func streams(of fixture: FixtureCase) throws {
    let opened = try OpenedFixture(fixture)
    let (expected, capture) = (opened.expected, opened.capture)
    #expect(capture.id == expected.captureId ?? "capture")
    #expect(capture.generation == expected.generation)
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == expected.timestampsNs.frame)
    let isOfFiles = ["3d-scanner-app", "record3d"].contains(expected.family)
    for (index, frame) in capture.frames.enumerated() {
      // A picture that cannot be decoded loses its time when the table is written.
      let hasColor = !isOfFiles || opened.color.contains(index)
      #expect(
        (hasColor ? frame.colorTimestamp?.nanoseconds : nil) == expected.timestampsNs.color[index])
      guard capture.depth.value != nil else { continue }
      let hasDepth = expected.family == "multiscan" || opened.depth[index] != nil
      #expect(
        (hasDepth ? frame.depthTimestamp?.nanoseconds : nil) == expected.timestampsNs.depth[index])
    }
    #expect(opened.depth == expected.depthSha256 ?? [])
    #expect(opened.confidence == expected.confidenceSha256 ?? [])
    if isOfFiles { #expect(opened.color == expected.colorIndex.compactMap(\.self)) }
    let found = [
      "color": capture.color.value?.description, "depth": capture.depth.value?.description,
      "confidence": capture.confidence.value?.description,
      "poses": capture.poses.value?.description,
    ]
    for (name, stream) in expected.streams {
      if expected.mustFail.contains(name) {
        #expect(name != "color" || capture.color.error != nil)
        continue
      }
      guard name != "imu", let description = found[name] else { continue }
      #expect((description == nil) == (stream == nil), "\(name)")
      #expect(stream?.frames == nil || description?.frames == stream?.frames, "\(name)")
      #expect(stream?.width == nil || description?.width == stream?.width, "\(name)")
      #expect(stream?.height == nil || description?.height == stream?.height, "\(name)")
      #expect(stream?.file == nil || description?.file == stream?.file, "\(name)")
      let encoding = opened.scan.encodings[name] ?? description?.encoding
      #expect(stream?.encoding == nil || encoding == stream?.encoding, "\(name)")
      #expect(
        stream?.declaredFrames == nil || description?.declaredFrames == stream?.declaredFrames,
        "\(name)")
    }
  }

  private func isNear(_ found: Double?, _ wanted: Double?, _ tolerance: Double = 1e-9) -> Bool {
    guard let found, let wanted else { return found == nil && wanted == nil }
    return abs(found - wanted) <= tolerance * max(1, abs(wanted))
  }

  private func expectNear(_ found: [[Double?]], _ wanted: [CaptureExpectation.Row], _ what: String)
  {
    #expect(found.count == wanted.count, "\(what)")
    for (row, wanted) in zip(found, wanted) {
      // What a table has behind these columns is not the reader's.
      #expect(
        zip(row, wanted.numbers).allSatisfy { isNear($0, $1) }, "\(what): \(row) \(wanted.numbers)")
    }
  }

  @Test("Poses, cameras, positions and samples are the expected rows", arguments: cases)
  func tables(of fixture: FixtureCase) throws {
    let opened = try OpenedFixture(fixture)
    let (expected, capture) = (opened.expected, opened.capture)
    let poses = zip(capture.poses.value?.rows ?? [], expected.poses).map {
      row, wanted -> [Double?] in
      let q = row.pose.orientation
      let numbers = [q.x, q.y, q.z, q.w]
      // Both signs are one rotation.
      let sign = zip(numbers, wanted.numbers.suffix(4)).reduce(0) { $0 + $1.0 * ($1.1 ?? 0) }
      let time = capture.frames[row.frame].timestamp.map { Double($0.nanoseconds) }
      let values = row.pose.position + numbers.map { sign < 0 ? -$0 : $0 }
      return [Double(row.frame), time] + values.map(Optional.some)
    }
    expectNear(poses, expected.poses, "poses")
    #expect(capture.poses.value?.rows.count ?? 0 == expected.poses.count)
    let intrinsics = (capture.intrinsics.value ?? []).map { row -> [Double?] in
      [
        Double(row.frame), row.width.map(Double.init), row.height.map(Double.init), row.fx, row.fy,
        row.cx, row.cy,
      ]
    }
    expectNear(intrinsics, expected.intrinsics, "intrinsics")
    let settings = (capture.cameraSettings.value?.rows ?? []).map {
      [Double($0.frame), $0.exposureSeconds, $0.iso, $0.exposureOffsetEV]
    }
    expectNear(settings, expected.cameraSettings, "camera settings")
    if let geo = expected.geo {
      let positions = capture.geo.value?.track.positions ?? []
      #expect(positions.map(\.latitude) == geo.map { $0.numbers[2] })
      #expect(positions.map(\.longitude) == geo.map { $0.numbers[3] })
      let hasFrames = capture.generation == "high-resolution"
      #expect(
        geo.isEmpty
          || capture.geo.value?.coverage == (hasFrames ? .frames([1, 5]) : .firstFrameOnly))
    }
    let imu = capture.imu.value
    #expect(imu?.sampleCounts ?? [:] == expected.imu.counts)
    let samples = imu?.samples ?? []
    #expect(samples.count == expected.imu.rows)
    let ends = samples.prefix(expected.imu.first.count) + samples.suffix(expected.imu.last.count)
    for (sample, row) in zip(ends, expected.imu.first + expected.imu.last) {
      #expect(imu?.sensors[sample.sensor] == row.text)
      #expect(Double(sample.timestamp.nanoseconds) == row.numbers[0])
      for (value, wanted) in zip([sample.x, sample.y, sample.z], row.numbers[1...]) {
        #expect(isNear(value, wanted, 1e-12))
      }
    }
  }

  @Test("Warnings are the expected codes and counts, and no others", arguments: cases)
  func warnings(of fixture: FixtureCase) throws {
    let opened = try OpenedFixture(fixture)
    var wanted: [String: Int] = [:]
    for warning in opened.expected.warnings { wanted[warning.code, default: 0] += warning.count }
    var found: [String: Int] = [:]
    for warning in opened.capture.warnings + opened.scan.warnings {
      found[warning.code.rawValue, default: 0] += warning.count
    }
    // The truth of these families leaves open how samples and frames meet, and which keys are known.
    if ["arkit-scanner", "multiscan"].contains(opened.expected.family) {
      for code in ["imu-outside-frames", "imu-gap", "unknown-key", "missing-key"]
      where wanted[code] == nil { found[code] = nil }
    }
    #expect(found == wanted)
    let subjects = Set(opened.expected.warnings.map { "\($0.code) \($0.subject)" })
    for warning in opened.capture.warnings where found[warning.code.rawValue] != nil {
      #expect(subjects.contains("\(warning.code.rawValue) \(warning.subject)"))
    }
  }

  @Test("Depth shares the color camera", arguments: cases)
  func alignment(of fixture: FixtureCase) throws {
    let capture = try OpenedFixture(fixture).capture
    #expect((capture.alignment == nil) == (capture.depth.value == nil))
    guard let alignment = capture.alignment else { return }
    #expect(alignment.registered && alignment.colorFromDepth == .identity)
    #expect(alignment.depthIntrinsics == nil)
    guard let row = capture.intrinsics.value?.first, let width = row.width else { return }
    #expect(alignment.colorIntrinsics?.width == width && alignment.colorIntrinsics?.fx == row.fx)
  }

  /// What is missing of the captures that are not whole; files by name where the family names them.
  private static let missing: [String: [String]] = [
    "arkit-scanner crashed": ["trans.json", "metadata.json"], "arkit-scanner damaged": [],
    "arkit-scanner g2c": [], "multiscan aborted": [], "multiscan single_aborted": [],
    "multiscan real_sample": [], "multiscan damaged": [],
    "stray-scanner killed": ["camera_matrix.csv"], "stray-scanner damaged": [],
    "3d-scanner-app damaged": ["depth_00004.png", "conf_00005.png"],
    "record3d exr": ["rgb/4.jpg", "depth/4.exr"],
    "record3d folder": ["rgbd/2.jpg", "rgbd/2.depth"],
    "record3d cut": ["rgbd/2.jpg", "rgbd/5.jpg", "rgbd/6.jpg", "rgbd/3.depth", "rgbd/5.depth"],
  ]

  @Test(
    "Only what the app finished is whole, and every part names existing files", arguments: cases)
  func completeness(of fixture: FixtureCase) throws {
    let opened = try OpenedFixture(fixture)
    let found = opened.capture.completeness
    let missing = Self.missing["\(opened.expected.family) \(fixture.name)"]
    #expect(found.isWhole == (missing == nil), "\(found.missing)")
    if opened.expected.family != "multiscan" { #expect(found.absentFiles == missing ?? []) }
    for file in opened.capture.files.values.joined() {
      #expect(FileManager.default.fileExists(atPath: file.string), "\(file)")
    }
  }
}
