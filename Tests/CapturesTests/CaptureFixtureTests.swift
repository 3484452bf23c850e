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
  struct Warning: Decodable {
    var code, subject: String
  }
  /// Numbers of a table's row; a text is none.
  struct Row: Decodable {
    var numbers: [Double?] = []

    init(from decoder: any Decoder) throws {
      var cells = try decoder.unkeyedContainer()
      while !cells.isAtEnd {
        if (try? cells.decode(String.self)) == nil {
          numbers.append(try cells.decodeIfPresent(Double.self))
        }
      }
    }
  }

  var family, generation: String
  var captureId: String?
  /// By name; `nil` for a stream that is not there. Those of samples state no frames.
  var streams: [String: Stream?]
  var poses, intrinsics, cameraSettings: [Row]
  var geo: [Row]?
  var warnings: [Warning]
  var mustFail: [String]
}

/// A capture of the fixtures, opened.
private struct OpenedFixture {
  let expected: CaptureExpectation
  let capture: Capture

  init(_ fixture: FixtureCase) throws {
    expected = try fixture.json(CaptureExpectation.self, from: "expected.json")
    capture = try .found(at: try fixture.input)
    #expect(capture.family.rawValue == expected.family)
  }
}

/// Captures by an independent encoder, read as their truth says.
@Suite("Fixtures of the families with depth or poses by frame", .enabled(if: Fixtures.arePresent))
struct CaptureFixtureTests {
  static let cases = ["arkit-scanner", "multiscan", "stray-scanner", "3d-scanner-app", "record3d"]
    .flatMap(Fixtures.cases(of:))

  @Test("Streams are the expected ones", arguments: cases)
  func streams(of fixture: FixtureCase) throws {
    let opened = try OpenedFixture(fixture)
    let (expected, capture) = (opened.expected, opened.capture)
    let scan = try StreamScan(capture, budget: CoreBudget(cores: 2))
    #expect(capture.id == expected.captureId ?? "capture")
    #expect(capture.generation == expected.generation)
    if case .video = capture.color.value?.source {
      #expect(capture.familyDescription.video != .absent)
    }
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
      let encoding = scan.encodings[name] ?? description?.encoding
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

  @Test("Poses, cameras and positions are the expected rows", arguments: cases)
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
  }

  @Test("Warnings of the expected codes have the expected subjects", arguments: cases)
  func subjects(of fixture: FixtureCase) throws {
    let opened = try OpenedFixture(fixture)
    let codes = Set(opened.expected.warnings.map(\.code))
    let subjects = Set(opened.expected.warnings.map { "\($0.code) \($0.subject)" })
    let found = opened.capture.warnings.filter { codes.contains($0.code.rawValue) }
    #expect(subjects.isSuperset(of: found.countsBySubject.keys))
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
    "arkit-scanner crashed": ["trans.json", "metadata.json", "intri.json"],
    "arkit-scanner damaged": [],
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
      #expect(FileSystem.exists(file), "\(file)")
    }
  }
}
