@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Tables of depth undistortion and devices")
struct DepthTableFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ bytes: [UInt8], _ name: String = "a.lut") throws -> FilePath {
    let path = folder.path.appending(name)
    try Data(bytes).write(to: URL(filePath: path.string))
    return path
  }

  private static func bytes(
    _ sizes: [Int32], _ distance: Float, _ values: [Float]
  ) -> [UInt8] {
    let words =
      sizes.map { UInt32(bitPattern: $0) } + [distance.bitPattern] + values.map(\.bitPattern)
    return words.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
    }
  }

  @Test("A table is read as it is; every shorter or longer file is refused with what it must be")
  func whole() throws {
    let bytes = Self.bytes([2, 1, 3], 4.5, [1, 1.25, 0.75, -321, 1.5, 1])
    let table = try DepthTableFile.read(write(bytes))
    #expect(
      table
        == DepthDistortionTable(
          columns: 2, rows: 1, slices: 3, maximumDistance: 4.5,
          values: [1, 1.25, 0.75, -321, 1.5, 1]) || table.unknownCells == 1)
    #expect(table.columns == 2 && table.rows == 1 && table.slices == 3)
    for count in 0...(bytes.count + 4) where count != bytes.count {
      let cut =
        count < bytes.count
        ? Array(bytes.prefix(count)) : bytes + [UInt8](repeating: 0, count: count - bytes.count)
      let path = try write(cut, "cut.lut")
      let error = #expect(throws: CalibrationError.self) { try DepthTableFile.read(path) }
      let text = error.map { "\($0)" } ?? ""
      #expect(text.contains("cut.lut") && text.contains("\(count) bytes"), "\(text)")
    }
  }

  @Test(
    "Impossible heads are refused with their byte and value",
    arguments: [
      ([0, 1, 1], 5, "xRes = 0: at byte 0"), ([1, -1, 1], 5, "yRes = -1: at byte 4"),
      ([1, 1, 4097], 5, "zRes = 4097: at byte 8"), ([1, 1, 1], 0, "maxDistance = 0.0: at byte 12"),
      ([1, 1, 1], -2, "maxDistance = -2.0"), ([1, 1, 1], .nan, "maxDistance = nan"),
      ([4096, 4096, 4096], 5, "has exactly 274877906960"),
    ] as [([Int32], Float, String)])
  func heads(_ sizes: [Int32], _ distance: Float, _ words: String) throws {
    let path = try write(Self.bytes(sizes, distance, [1]))
    let error = #expect(throws: CalibrationError.self) { try DepthTableFile.read(path) }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains(words), "\(text)")
  }

  @Test(
    "devices.csv names the files of a device; a device that is not listed has those named after it")
  func devices() throws {
    try Data("name,calibration_name,id\n\"Pad, old\",lab7,AB\nnew,,CD\n".utf8).write(
      to: URL(filePath: folder.path.appending("devices.csv").string))
    for name in ["lab7.txt", "lab7.lut", "CD.txt", "EF.lut", "AB.json"] { _ = try write([1], name) }
    #expect(CalibrationFolder.file(for: "AB", in: folder.path)?.lastComponent?.string == "lab7.txt")
    #expect(
      CalibrationFolder.table(for: "AB", in: folder.path)?.lastComponent?.string == "lab7.lut")
    #expect(
      CalibrationFolder.file(for: "CD", in: folder.path) == nil,
      "an empty name keeps its own values")
    #expect(CalibrationFolder.table(for: "EF", in: folder.path)?.lastComponent?.string == "EF.lut")
    #expect(CalibrationFolder.table(for: "GH", in: folder.path) == nil)
  }

  @Test(
    "Tables of devices that contradict themselves are refused",
    arguments: [
      (
        "id,calibration_name\na,x\nb,y\na,z\n",
        "devices.csv:4: a = z: is listed twice, before with 'x'"
      ),
      ("id,name\na,x\n", "devices.csv:1: calibration_name: is missing"),
      ("", "devices.csv:1: id: is missing"),
    ])
  func contradictions(_ text: String, _ words: String) throws {
    try Data(text.utf8).write(to: URL(filePath: folder.path.appending("devices.csv").string))
    let error = #expect(throws: CalibrationError.self) { try CalibrationDevices(in: folder.path) }
    let told = error.map { "\($0)" } ?? ""
    #expect(told.contains(words), "\(told)")
  }
}
