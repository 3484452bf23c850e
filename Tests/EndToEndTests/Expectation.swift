@testable import Media
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// What a capture with known truth says must come out, and how the program's output is compared.
struct Expectation {
  let json: [String: Any]

  init(_ fixture: FixtureCase) throws {
    try self.init(file: fixture.folder.appending("expected.json"))
  }

  init(file: FilePath) throws {
    let data = try file.data()
    json = try data.json()
  }

  private var mustFail: [String] { json["mustFail"] as? [String] ?? [] }
  private var mayFail: [String] { json["mayFail"] as? [String] ?? [] }

  var exitCode: Int32 {
    Int32(json["exitCode"] as? Int ?? (mustFail.isEmpty ? 0 : 1))
  }

  func onlyCapture(of report: [String: Any]) throws -> [String: Any] {
    let captures = try report.objects("captures")
    #expect(captures.count == 1)
    return try #require(captures.first)
  }

  /// The stages that must fail do, and no other.
  func checkFailures(in capture: [String: Any]) throws {
    let stages = try capture.objects("stages")
    let failed = stages.filter { $0["outcome"] as? String == "failed" }
      .compactMap { $0["stage"] as? String }
    #expect(Set(mustFail).subtracting(failed).isEmpty)
    #expect(Set(failed).subtracting(mustFail).subtracting(mayFail).isEmpty)
  }

  /// Digest of every depth or confidence picture; `null` means that there is no file.
  func checkPictures(_ stage: String, in folder: FilePath) throws {
    guard let digests = json["\(stage)Sha256"] as? [Any] else { return }
    for (frame, digest) in digests.enumerated() {
      let file = folder.appending(stage).appending(Self.name(frame))
      guard let digest = digest as? String else {
        #expect(!FileSystem.exists(file), "\(stage) \(frame) must be a hole")
        continue
      }
      let found =
        stage == "depth"
        ? Digest(ofPixels: try PNGReader.depth(at: file).millimeters)
        : Digest(of: try PNGReader.gray(at: file).values)
      #expect(found.hex == digest, "\(stage) \(frame)")
    }
  }

  /// The three time columns of `frames.csv`.
  func checkFrameTimes(in folder: FilePath) throws {
    guard let times = json["timestampsNs"] as? [String: Any], !mustFail.contains("tables") else {
      return
    }
    let table = try Table(folder.appending("tables").appending("frames.csv"))
    let columns = [
      ("frame", "timestamp_ns"), ("frames", "timestamp_ns"), ("color", "color_timestamp_ns"),
      ("depth", "depth_timestamp_ns"),
    ]
    for (key, column) in columns {
      guard let values = times[key] as? [Any] else { continue }
      #expect(table[column] == values.map { ($0 as? NSNumber)?.stringValue ?? "" }, "\(column)")
    }
  }

  func checkColorCount(in folder: FilePath) throws {
    let count =
      json["colorFrames", "count"] as? Int ?? json["colorFrames"] as? Int
    guard let count else { return }
    let names = (try? FileSystem.names(in: folder.appending("color"))) ?? []
    #expect(names.count { $0.hasSuffix(".png") } == count)
  }

  /// The number that each picture bears in its top eighth: 16 blocks, most significant bit first.
  /// `null` means that the frame has no picture.
  func checkColorIndices(in folder: FilePath) throws {
    guard let indices = json["colorIndex"] as? [Any] else { return }
    for (frame, index) in indices.enumerated() {
      let file = folder.appending("color").appending(Self.name(frame))
      guard let index = index as? Int else {
        #expect(!FileSystem.exists(file), "color \(frame) must be a hole")
        continue
      }
      let picture = try PNGReader.color(at: file)
      var number = 0
      for block in 0..<16 {
        let column = (2 * block + 1) * picture.width / 32
        let row = picture.height / 16
        number = number << 1 | (picture.rgb[3 * (row * picture.width + column)] >= 128 ? 1 : 0)
      }
      #expect(number == index, "color \(frame)")
    }
  }

  /// Aligned pictures that are planes: `[frame, a, b, c]`.
  func checkPlanes(in folder: FilePath) throws {
    guard let planes = json["aligned"] as? [[Double]], exitCode == 0 else { return }
    for plane in planes where plane.count == 4 {
      let file = folder.appending("aligned").appending(Self.name(Int(plane[0])))
      let picture = try PNGReader.depth(at: file)
      var right = 0
      for row in 0..<picture.height {
        for column in 0..<picture.width {
          let u = (Double(column) + 0.5) / Double(picture.width)
          let v = (Double(row) + 0.5) / Double(picture.height)
          let depth = 1000 / (plane[1] + plane[2] * u + plane[3] * v)
          let found = Double(picture.millimeters[row * picture.width + column])
          if abs(found - depth) <= 2 + 0.002 * depth { right += 1 }
        }
      }
      #expect(Double(right) >= 0.97 * Double(picture.width * picture.height), "aligned \(plane[0])")
    }
  }

  /// Exactly the expected codes, counts summed by code; some codes may come on top in some families.
  func checkWarnings(in object: [String: Any]) throws {
    let expected = Self.sums(try json.objects("warnings"))
    var found = Self.sums(try object.objects("warnings"))
    if ["arkit-scanner", "multiscan"].contains(json["family"] as? String) {
      for code in ["imu-outside-frames", "imu-gap", "unknown-key", "missing-key"]
      where expected[code] == nil { found[code] = nil }
    }
    if Self.implyShortfall(expected.keys) { found["shortfall"] = nil }
    #expect(found == expected)
  }

  /// What lacks because of a warning that is expected is a shortfall too, which the truth does not name. A capture
  /// without any warning has none.
  private static func implyShortfall(_ expected: some Collection<String>) -> Bool {
    !expected.isEmpty && !expected.contains("shortfall")
  }

  /// Checks each subject by itself.
  func checkSubjects(in object: [String: Any]) throws {
    func counts(_ value: Any?, without left: String? = nil) throws -> [String: Int] {
      try #require(value as? [[String: Any]]).reduce(into: [:]) { counts, warning in
        let (code, subject) = (warning["code"] as? String, warning["subject"] as? String)
        if let left, code == left { return }
        counts["\(code ?? "?") \(subject ?? "?")", default: 0] += warning["count"] as? Int ?? 0
      }
    }
    let expected = try counts(json["warnings"])
    let codes = expected.keys.map { String($0.prefix { $0 != " " }) }
    let left = Self.implyShortfall(codes) ? "shortfall" : nil
    #expect(try counts(object["warnings"], without: left) == expected)
  }

  /// The generation, and of every stream its encoding, size and number of files.
  func checkDocument(in folder: FilePath) throws {
    let document = try folder.appending("capture.json").json()
    #expect(document["generation"] as? String == json["generation"] as? String)
    let found = try document.object("streams")
    for (name, stream) in try json.object("streams") {
      guard let stream = stream as? [String: Any] else { continue }
      let other = try found.object(name)
      if let encoding = stream["encoding"] as? String {
        #expect(other["encoding"] as? String == encoding, "\(name)")
      }
      for key in ["width", "height", "frames"] {
        #expect(other[key] as? Int == stream[key] as? Int, "\(name) \(key)")
      }
    }
  }

  /// Every row of poses, intrinsics, exposures and positions. An absent table has no rows.
  func checkCameraTables(in folder: FilePath) throws {
    guard !mustFail.contains("tables") else { return }
    for (name, key, columns) in [
      ("poses", "poses", 9), ("intrinsics", "intrinsics", 7),
      ("camera_settings", "cameraSettings", 2), ("geo", "geo", 7),
    ] {
      guard let expected = json[key] as? [[Any]] else { continue }
      let path = folder.appending("tables").appending("\(name).csv")
      let rows = FileSystem.exists(path) ? try Table(path).rows : []
      #expect(rows.count == expected.count, "\(name)")
      for (row, expected) in zip(rows, expected) {
        for (cell, value) in zip(row, expected).prefix(columns) {
          if let text = value as? String {
            #expect(cell == text, "\(name)")
          } else if let number = value as? NSNumber {
            let found = Double(cell) ?? .nan
            let close = 1e-9 * max(1, abs(number.doubleValue))
            #expect(
              cell == number.stringValue || abs(found - number.doubleValue) <= close,
              "\(name): \(row) instead of \(expected)")
          } else {
            #expect(cell == "", "\(name): \(row) instead of \(expected)")
          }
        }
      }
    }
  }

  /// Samples per sensor, first and last rows, rows of the default window.
  func checkIMU(in folder: FilePath) throws {
    guard let imu = json["imu"] as? [String: Any], !mustFail.contains("imu") else { return }
    let counts = (imu["samples"] ?? imu["counts"]) as? [String: Int] ?? [:]
    if counts.isEmpty { return }
    let table = try Table(folder.appending("imu").appending("imu.csv"))
    let found = table["sensor_type"].reduce(into: [:]) { $0[$1, default: 0] += 1 }
    #expect(found == counts)
    let first = Self.rows(imu["firstRows"] ?? imu["first"])
    for (row, expected) in zip(table.rows, first) { Self.expectSame(row, expected) }
    let last = Self.rows(imu["lastRows"] ?? imu["last"])
    for (row, expected) in zip(table.rows.suffix(last.count), last) {
      Self.expectSame(row, expected)
    }
    if let rows = imu["frameImuRows"] as? Int {
      let matches = try Table(folder.appending("imu").appending("frame_imu.csv"))
      #expect(matches.rows.count == rows)
    }
    if let perFrame = imu["samplesPerFrame"] as? [String: [Int]], !perFrame.isEmpty {
      let counts = try Table(folder.appending("imu").appending("frame_imu_counts.csv"))
      for (sensor, expected) in perFrame {
        #expect(counts.rows.filter { $0[2] == sensor }.map { Int($0[3]) } == expected)
      }
    }
  }

  func checkThumbnail(in folder: FilePath) throws {
    guard let size = json["thumbnail"] as? [Int] else { return }
    let picture = try PNGReader.color(at: folder.appending("thumbnail").appending("thumbnail.png"))
    #expect([picture.width, picture.height] == size)
  }

  /// Rows as texts, whether the truth has lists of values, lists of lines, or one of either.
  private static func rows(_ value: Any?) -> [[String]] {
    if let lines = value as? [String], lines.first?.contains(",") == true {
      return lines.map { $0.split(separator: ",").map(String.init) }
    }
    if let rows = value as? [[Any]] { return rows.map { $0.map { "\($0)" } } }
    if let row = value as? [Any] { return [row.map { "\($0)" }] }
    return []
  }

  private static func expectSame(_ row: [String], _ expected: [String]) {
    #expect(Array(row.prefix(2)) == Array(expected.prefix(2)))
    for (a, b) in zip(row.dropFirst(2), expected.dropFirst(2)) {
      let (x, y) = (Double(a) ?? .nan, Double(b) ?? .nan)
      #expect(abs(x - y) <= 1e-12 * max(1, abs(y)), "\(row) instead of \(expected)")
    }
  }

  private static func sums(_ warnings: [[String: Any]]) -> [String: Int] {
    warnings.reduce(into: [:]) { sums, warning in
      sums[warning["code"] as? String ?? "?", default: 0] += warning["count"] as? Int ?? 0
    }
  }

  private static func name(_ frame: Int) -> String {
    let digits = String(frame)
    return String(repeating: "0", count: 6 - digits.count) + digits + ".png"
  }
}
