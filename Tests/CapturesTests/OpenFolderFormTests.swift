@testable import Captures
import Core
import Media
import SystemPackage
import Testing

/// Every unit, order, axis and encoding that `capture.yaml` can state.
@Suite("Open folder: units, axes and encodings")
struct OpenFolderFormTests {
  @Test(
    "A time of each unit becomes exact nanoseconds, with its offset",
    arguments: [
      ("s", "1.000000001", "", 1_000_000_001), ("ms", "1500.000001", "", 1_500_000_001),
      ("us", "2500000.001", "", 2_500_000_001),
      ("ns", "9007199254740993", "", 9_007_199_254_740_993),
      ("s", "1", ", offset: -0.25", 750_000_000),
    ])
  func times(unit: String, text: String, offset: String, expected: Int64) throws {
    let scratch = try OpenFolderScratch(
      "color: {table: a.csv, file: name, time: {column: t, unit: \(unit)\(offset)}}")
    try scratch.writePicture("1.jpg")
    try scratch.write("t,name\n\(text),1.jpg\n", to: "a.csv")
    #expect(try scratch.open().nanoseconds == [expected])
  }

  @Test("A rate makes nominal times, in which a number without a file stays free")
  func rate() throws {
    let scratch = try OpenFolderScratch("color: {images: \"*.jpg\", time: {rate: 10}}")
    for number in [3, 4, 6] { try scratch.writePicture("\(number).jpg") }
    let capture = try scratch.open()
    #expect(capture.nanoseconds == [0, 100_000_000, 300_000_000])
    #expect(capture.clock.base == .nominal)
  }

  struct Form: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The cells m0, m1, …
    var cells: [Double]
  }

  /// One pose, turned by 90° about the camera's axis, written in every way.
  static func forms() -> [Form] {
    let rows = OpenFolderScratch.matrix(5)
    let opencv: [[Double]] = rows.map { [$0[0], -$0[1], -$0[2], $0[3]] }
    var columns: [Double] = []
    for column in 0..<4 { columns += opencv.map { $0[column] } }
    // The rotation transposed, and the position turned back by it.
    let inverse: [Double] = [0, -1, 0, 2, -1, 0, 0, 0.5, 0, 0, -1, 3, 0, 0, 0, 1]
    var millimeters: [Double] = []
    for row in opencv.dropLast() { millimeters += [row[0], row[1], row[2], row[3] * 1000] }
    var centimeters: [Double] = []
    for column in 0..<4 {
      centimeters += rows.dropLast().map { column == 3 ? $0[column] * 100 : $0[column] }
    }
    let half = 0.5.squareRoot()
    func form(_ keys: String, _ cells: [Double]) -> Form {
      Form(testDescription: keys, cells: cells)
    }
    let all = Array(rows.joined())
    let vectors = "position: P, quaternion: Q, direction: worldFromCamera, axes: opencv"
    return [
      form("matrix: M, order: row, direction: worldFromCamera, axes: arkit", all),
      form("matrix: M, order: row, direction: worldFromCamera, axes: opengl", all),
      form("matrix: M, order: column, direction: worldFromCamera, axes: opencv", columns),
      form("matrix: M, order: row, direction: cameraFromWorld, axes: opencv", inverse),
      form(
        "matrix: M12, order: row, direction: worldFromCamera, axes: opencv, unit: mm", millimeters),
      form(
        "matrix: M12, order: column, direction: worldFromCamera, axes: arkit, unit: cm", centimeters
      ),
      form(vectors + ", quaternionOrder: xyzw", [0.5, 2, 3, half, -half, 0, 0]),
      form(vectors + ", quaternionOrder: wxyz", [0.5, 2, 3, 0, half, -half, 0]),
    ]
  }

  @Test("A pose is the same however it is written", arguments: forms())
  func poses(_ form: Form) throws {
    func names(_ range: Range<Int>) -> String { "\(range.map { "m\($0)" })" }
    let keys = form.testDescription.replacing("M12", with: names(0..<12))
      .replacing("M", with: names(0..<16)).replacing("P,", with: names(0..<3) + ",")
      .replacing("Q,", with: names(3..<7) + ",").replacing("\"", with: "")
    let scratch = try OpenFolderScratch(
      "color: {table: a.csv, file: name}\nposes: {table: a.csv, \(keys)}")
    try scratch.writePicture("1.jpg")
    let cells = form.cells + [Double](repeating: 0, count: 16 - form.cells.count)
    let header = (0..<16).map { "m\($0)" }.joined(separator: ",")
    let row = cells.map { "\($0)" }.joined(separator: ",")
    try scratch.write("name,\(header)\n1.jpg,\(row)\n", to: "a.csv")
    let pose = try #require(scratch.open().poses.value?.rows.first?.pose)
    let expected = OpenFolderScratch.pose(5)
    #expect(zip(pose.position, expected.position).allSatisfy { abs($0 - $1) < 1e-9 })
    let product = zip(pose.orientation.rotation, expected.orientation.rotation).map { abs($0 - $1) }
    #expect(product.allSatisfy { $0 < 1e-6 }, "\(pose.orientation)")
  }

  @Test(
    "A matrix in one cell of text is read; two numbers in a cell are none", arguments: [" ", ", "])
  func cell(separator: String) throws {
    let scratch = try OpenFolderScratch(
      """
      color: {table: a.csv, file: name}
      poses: {table: a.csv, matrix: m, order: row, direction: worldFromCamera, axes: arkit}
      geo: {table: a.csv, time: {column: t, unit: s}, latitude: place, longitude: place}
      """)
    try scratch.writePicture("1.jpg")
    let matrix = OpenFolderScratch.matrix(5).joined().map { "\($0)" }
      .joined(separator: separator)
    try scratch.write("name,t,m,place\n1.jpg,5,\"\(matrix)\",\"47,5\"\n", to: "a.csv")
    let capture = try scratch.open()
    #expect(capture.poses.value?.rows.first?.pose.position == [0.5, 2, 3])
    #expect(capture.geo.value?.track.positions.isEmpty != false)
  }

  @Test(
    "Raw depth of each type, order of bytes and compression has the same meters",
    arguments: [
      "type: float32", "type: float32, endian: big", "type: float32, compression: lz4",
      "type: float32, compression: lzfse", "type: uint16, compression: gzip",
      "type: uint16, compression: zlib", "type: float16, compression: deflate",
      "type: float16", "type: uint16", "type: uint16, endian: big", "type: uint8",
    ])
  func depth(_ keys: String) throws {
    let scale = keys.contains("uint8") ? ", scale: 0.5" : ""
    let scratch = try OpenFolderScratch(
      "depth: {images: \"*.raw\", invalid: 4, raw: {\(keys), width: 2, height: 2}\(scale)}")
    // 0.5 and 2 m, one that is none, and one that is stated to be none.
    var bytes: [UInt8]
    if keys.contains("float32") {
      bytes = OpenFolderScratch.bytes([0.5, 2, 0, 4].map { Float($0).bitPattern })
    } else if keys.contains("float16") {
      bytes = OpenFolderScratch.bytes([0x3800, 0x4000, 0, 0x4400] as [UInt16])
    } else if keys.contains("uint16") {
      bytes = OpenFolderScratch.bytes([500, 2000, 0, 4] as [UInt16])
    } else {
      bytes = [1, 5, 0, 4]
    }
    if keys.contains("big") {
      let size = keys.contains("32") ? 4 : 2
      bytes = stride(from: 0, to: bytes.count, by: size).flatMap {
        bytes[$0..<$0 + size].reversed()
      }
    }
    for (name, format) in [("gzip", DeflateFormat.gzip), ("zlib", .zlib), ("deflate", .raw)]
    where keys.hasSuffix(name) {
      bytes = try DeflateEncoder.compress(bytes, format: format)
    }
    if keys.hasSuffix("lz4") { bytes = LZ4Block.encode(bytes.span.bytes) ?? [] }
    if keys.hasSuffix("lzfse") {
      bytes =
        Array("bvx-".utf8) + OpenFolderScratch.bytes([UInt32(bytes.count)]) + bytes
        + Array("bvx$".utf8)
    }
    try scratch.write(bytes, to: "000.raw")
    let found = try #require(try scratch.open().depth(0))
    #expect(found == (keys.contains("uint8") ? [500, 2500, 0, 0] : [500, 2000, 0, 0]))
    #expect(try scratch.open().allCounts() == [:])
  }

  @Test(
    "NumPy depth has the meters of its type",
    arguments: [
      (
        "<f4", "", "npy-f32",
        OpenFolderScratch.bytes(([1.5, .nan, 0, 2] as [Float]).map(\.bitPattern))
      ),
      (
        "<f4", ", scale: 0.5", "npy-f32",
        OpenFolderScratch.bytes(([3, .nan, 0, 4] as [Float]).map(\.bitPattern))
      ),
      ("<f2", "", "npy-f16", OpenFolderScratch.bytes([0x3E00, 0x7E00, 0, 0x4000] as [UInt16])),
      ("<u2", "", "npy-u16", OpenFolderScratch.bytes([1500, 0, 0, 2000] as [UInt16])),
      (
        "<u2", ", scale: 0.0005", "npy-u16",
        OpenFolderScratch.bytes([3000, 0, 0, 4000] as [UInt16])
      ),
    ])
  func numPy(type: String, scale: String, encoding: String, numbers: [UInt8]) throws {
    let scratch = try OpenFolderScratch("depth: {images: \"*.npy\"\(scale)}")
    let header = Array("{'descr': '\(type)', 'fortran_order': False, 'shape': (1, 4), }\n".utf8)
    try scratch.write(
      [0x93] + Array("NUMPY".utf8) + [1, 0, UInt8(header.count), 0] + header + numbers, to: "1.npy")
    let capture = try scratch.open()
    #expect(try capture.depth(0) == [1500, 0, 0, 2000])
    #expect(capture.depth.value?.description.encoding == encoding)
  }

  @Test(
    "A depth camera of its own has its intrinsics and the way to the color camera; at the same place both are one",
    arguments: [10.0, 0])
  func depthCamera(millimeters: Double) throws {
    let scratch = try OpenFolderScratch(
      """
      color: {images: "rgb/*.jpg"}
      depth:
        images: "depth/*.png"
        intrinsics: {matrix: [[3, 0, 2], [0, 3, 1], [0, 0, 1]], order: row, size: [4, 3], pixelCenter: 0.5}
        colorFromDepth: {matrix: [[1, 0, 0, \(millimeters)], [0, 1, 0, 0], [0, 0, 1, 0]], order: row, unit: mm}
      intrinsics: {fx: 24, fy: 24, cx: 15.5, cy: 11.5, size: [32, 24]}
      """)
    try scratch.writePicture("rgb/1.jpg")
    try scratch.writeDepth("depth/1.png", [UInt16](repeating: 1000, count: 12))
    let capture = try scratch.open()
    let found = try #require(capture.alignment)
    #expect(found.registered == (millimeters == 0))
    #expect(found.colorFromDepth?.translation == [millimeters / 1000, 0, 0])
    #expect(
      found.depthIntrinsics == PinholeCamera(width: 4, height: 3, fx: 3, fy: 3, cx: 1.5, cy: 0.5))
    // Stated for pictures of twice the size.
    #expect(
      found.colorIntrinsics
        == PinholeCamera(width: 16, height: 12, fx: 12, fy: 12, cx: 7.5, cy: 5.5))
    #expect(capture.warningCounts == ["size-mismatch": 1])
  }

  @Test(
    "Motion on another clock is not related to frames without an offset", arguments: [true, false])
  func clocks(hasOffset: Bool) throws {
    let scratch = try OpenFolderScratch(
      """
      color: {images: "*.jpg", time: {name: true, unit: ms}}
      motion:
        - table: a.jsonl
          time: {column: t, unit: s, clock: unix\(hasOffset ? ", offset: -1000" : "")}
          acceleration: m/s2
          accelerometer: acc
      geo: {table: g.csv, time: {column: t, unit: ms}, latitude: lat, longitude: lon}
      """)
    for time in [1000, 1100, 1200] { try scratch.writePicture("\(time).jpg") }
    try scratch.write(
      (0..<40).map { #"{"t": 1000.\#(100 + $0 * 10), "acc": [0, 0, -9.8]}"# }.joined(
        separator: "\n")
        + "\n", to: "a.jsonl")
    try scratch.write("t,lat,lon\n1000,47.5,8.5\n1100,47.6,95000\n", to: "g.csv")
    let capture = try scratch.open()
    #expect(capture.framesShareIMUClock == hasOffset)
    #expect(capture.imu.value?.samples.count == 40)
    #expect(capture.geo.value?.track.positions.map(\.latitude) == [47.5])
    #expect(capture.warningCounts["corrupt-record"] == 1)
  }

  @Test(
    "Raw depth of all frames in one file belongs to the rows in their order; what is cut is told",
    arguments: [
      (36, [:]),
      (24 + 5, ["truncated-stream": 1, "frame-count-mismatch": 1, "pairing-approximate": 2]),
    ])
  func oneFile(bytes: Int, expected: [String: Int]) throws {
    let scratch = try OpenFolderScratch(
      """
      color: {table: a.csv, file: name}
      depth: {images: depth.bin, raw: {type: uint8, width: 4, height: 3}, scale: 0.01}
      """)
    for frame in 0..<3 { try scratch.writePicture("\(frame).jpg") }
    try scratch.write("name,x\n0.jpg,0\n1.jpg,0\n2.jpg,0\n", to: "a.csv")
    try scratch.write((0..<bytes).map { UInt8($0) }, to: "depth.bin")
    let capture = try scratch.open()
    #expect(try capture.depth(1)?.prefix(2) == [120, 130])
    #expect(try (capture.depth(2) == nil) == (bytes < 36))
    #expect(capture.warningCounts == expected && capture.completeness.isWhole == expected.isEmpty)
  }

  @Test("Text in UTF-16 or with a byte order mark is read as any other", arguments: [true, false])
  func encodings(isUTF16: Bool) throws {
    let scratch = try OpenFolderScratch.frames()
    let times = try scratch.open().nanoseconds
    for name in ["capture.yaml", "frames.jsonl"] {
      let text = try scratch.text(of: name)
      try scratch.write(
        isUTF16
          ? [0xFF, 0xFE] + OpenFolderScratch.bytes(Array(text.utf16))
          : [0xEF, 0xBB, 0xBF] + Array(text.utf8), to: name)
    }
    #expect(try scratch.open().nanoseconds == times)
    #expect(try scratch.open().allCounts() == [:])
  }

  @Test("One table of all sensors is one block for each kind of row")
  func longTable() throws {
    let scratch = try OpenFolderScratch(
      """
      motion:
        - table: {file: s.csv, where: {sensor: acc}}
          time: {column: t, unit: ms}
          acceleration: m/s2
          accelerometer: [x, y, z]
        - table: {file: s.csv, where: {sensor: gyro}}
          time: {column: t, unit: ms}
          rotation: rad/s
          gyroscope: [x, y, z]
      """)
    let rows = (100..<110).flatMap { row in
      ["\(row)0,acc,0,0,9.8", "\(row)0,baro,1013,,", "\(row)5,gyro,0.1,0,0"]
    }
    try scratch.write("t,sensor,x,y,z\n" + rows.joined(separator: "\n") + "\n", to: "s.csv")
    let capture = try scratch.open()
    let imu = try #require(capture.imu.value)
    #expect(imu.sensors == ["accelerometer", "gyroscope"] && imu.samples.count == 20)
    #expect(imu.recordedAcceleration == .metersPerSecondSquared)
    #expect(imu.description.file == "s.csv" && capture.warningCounts == [:])
  }

  @Test(
    "Intrinsics of a turned video belong to its upright size; a mirrored one has neither them nor poses",
    arguments: [[0, 1, -1, 0], [-1, 0, 0, 1]])
  func videoMatrix(_ matrix: [Int]) throws {
    let made = try MadeCapture(family: "vi-slam").folder()
    let scratch = try OpenFolderScratch(copyOf: made)
    try scratch.write(
      try #require(MovieBoxes(try scratch.bytes(of: "video.mp4")).turned(matrix)), to: "video.mp4")
    try scratch.describe(
      """
      color: {video: video.mp4}
      poses:
        {position: [0, 0, 0], quaternion: [0, 0, 0, 1], quaternionOrder: xyzw, axes: opencv, direction: worldFromCamera}
      intrinsics: {fx: 60, fy: 60, cx: 31.5, cy: 23.5, size: [64, 48]}
      """)
    let capture = try scratch.open()
    let isMirrored = matrix[0] == -1
    #expect(capture.color.value?.isMirrored == isMirrored)
    #expect((capture.poses.value == nil) == isMirrored)
    #expect(capture.poses.value?.rows.count ?? 10 == 10)
    #expect(capture.intrinsics.value?.first?.width == (isMirrored ? nil : 48))
  }
}
