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
    "devices.csv names the files of a device; a device that is not listed has those named after it",
    arguments: [
      ("AB", "lab7.txt", "lab7.lut"),
      // An empty name keeps the values of the capture.
      ("CD", nil, nil),
      ("EF", nil, "EF.lut"), ("GH", nil, nil),
      // Ids and names of files in other case are the same.
      ("ab", "lab7.txt", "lab7.lut"), ("ef", nil, "EF.lut"),
      // A name with some of its files has no others; one without any is a mistake, which opening tells.
      ("IJ", "Lab8.TXT", nil), ("KL", "lab9.txt", "lab9.lut"),
    ] as [(String, String?, String?)])
  func devices(device: String, file: String?, table: String?) throws {
    try Data(
      "name,calibration_name,id\n\"Pad, old\",lab7,AB\nnew,,CD\n,lab8,IJ\n,lab9,KL\n".utf8
    ).write(to: URL(filePath: folder.path.appending("devices.csv").string))
    for name in ["lab7.txt", "lab7.lut", "CD.txt", "EF.lut", "AB.json", "Lab8.TXT"] {
      _ = try write([1], name)
    }
    let place = folder.path
    #expect(CalibrationFolder.file(for: device, in: place)?.lastComponent?.string == file)
    var family = CaptureRegistry.builtIn.description(of: CaptureFamily("scannet"))
    func found() -> FilePath? { CalibrationFolder.table(for: device, in: place, of: family) }
    #expect(found()?.lastComponent?.string == table)
    // A sensor that takes no table misses none.
    family.hasStructuredLight = false
    #expect((found() == nil) == (table == nil || device == "KL"))
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
      ("id,calibration_name\nAb,x\naB,y\n", "devices.csv:3: aB = y: is listed twice"),
      ("id,calibration_name\na,../x\n", "calibration_name = ../x: has a slash"),
    ])
  func contradictions(_ text: String, _ words: String) throws {
    try Data(text.utf8).write(to: URL(filePath: folder.path.appending("devices.csv").string))
    let error = #expect(throws: CalibrationError.self) { try CalibrationDevices(in: folder.path) }
    let told = error.map { "\($0)" } ?? ""
    #expect(told.contains(words), "\(told)")
  }
}
