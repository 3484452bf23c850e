import Codecs
import Foundation
import Geometry
import Storage
import SystemPackage
import TestSupport
import Testing

/// What a fixture says must come out, and how the program's output is compared with it.
struct Expectation {
  let json: [String: Any]

  init(_ fixture: FixtureCase) throws {
    let data = try fixture.bytes(of: "expected.json")
    json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  func text(_ key: String) throws -> String { try #require(json[key] as? String) }

  /// Digest of every depth picture; `null` means that there is no file.
  func checkDepth(in folder: FilePath) throws {
    guard let digests = json["depthSha256"] as? [Any] else { return }
    for (frame, digest) in digests.enumerated() {
      let file = folder.appending("depth").appending(Self.name(frame))
      if let digest = digest as? String {
        #expect(try Self.digest(PNGReader.depth(at: file).millimeters) == digest, "frame \(frame)")
      } else {
        #expect(!FileSystem.exists(file), "frame \(frame) must be a hole")
      }
    }
  }

  /// The three time columns of `frames.csv`.
  func checkFrameTimes(in folder: FilePath) throws {
    guard let times = json["timestampsNs"] as? [String: Any] else { return }
    let table = try Table(folder.appending("tables").appending("frames.csv"))
    let columns = [
      ("frame", "timestamp_ns"), ("color", "color_timestamp_ns"), ("depth", "depth_timestamp_ns"),
    ]
    for (key, column) in columns {
      guard let values = times[key] as? [Any] else { continue }
      #expect(table[column] == values.map { ($0 as? NSNumber)?.stringValue ?? "" }, "\(column)")
    }
  }

  func checkColorCount(in folder: FilePath) throws {
    let count = (json["colorFrames"] as? [String: Any])?["count"] as? Int ?? json["colorFrames"] as? Int
    guard let count else { return }
    let names = try FileSystem.names(in: folder.appending("color"))
    #expect(names.count { $0.hasSuffix(".png") } == count)
  }

  /// The warnings of the only capture of a run's report.
  func checkWarnings(of report: [String: Any]) throws {
    let captures = try #require(report["captures"] as? [[String: Any]])
    try checkWarnings(in: #require(captures.first))
  }

  /// Exactly the expected codes, counts summed by code.
  func checkWarnings(in object: [String: Any]) throws {
    let expected = try #require(json["warnings"] as? [[String: Any]])
    let found = try #require(object["warnings"] as? [[String: Any]])
    #expect(Self.sums(found) == Self.sums(expected))
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

  private static func digest(_ pixels: [UInt16]) -> String {
    Digest(of: pixels.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }).hex
  }
}
