@testable import Captures
@testable import Core
import Testing

@Suite("MultiScan motion files")
struct MultiScanMotionTests {
  typealias Samples = MultiScanSamples

  private func samples(_ capture: Capture, of sensor: String) -> [[Double]] {
    guard let imu = capture.imu.value else { return [] }
    return imu.samples.filter { imu.sensors[$0.sensor] == sensor }.map { [$0.x, $0.y, $0.z] }
  }

  @Test("iOS units become those of the tables")
  func iosUnits() throws {
    let capture = try Samples.motionOnly(records: 0..<3).open()
    #expect(capture.imu.value?.convention == .coremotion)
    #expect(
      capture.imu.value?.sampleCounts == [
        "rotationRate": 3, "userAcceleration": 3, "magnetometer": 3, "attitude": 3, "gravity": 3,
      ])
    let stored = [2.0, 1, -2]
    #expect(samples(capture, of: "rotationRate").last == stored)
    #expect(samples(capture, of: "magnetometer").last == stored)
    #expect(samples(capture, of: "attitude").last == stored)
    #expect(samples(capture, of: "userAcceleration").last == stored.map { $0 * 9.80665 })
    #expect(samples(capture, of: "gravity").last == stored.map { $0 * 9.80665 })
  }

  @Test("Android units are kept, its attitude turned from azimuth, pitch, roll in degrees")
  func androidUnits() throws {
    let folder = try MultiScanFolder()
    for kind in Samples.motionKinds {
      try folder.write(
        "\(Samples.stem).\(kind)",
        Samples.motion(kind, records: 0..<3, format: "binary_big_endian", bigEndian: true))
    }
    try folder.write("\(Samples.stem).txt", #"{"stream":[{"id":"rot_1","type":"rotation_1"}]}"#)
    let capture = try folder.open()
    #expect(capture.generation == "android-plain")
    #expect(capture.imu.value?.convention == .android)
    let stored = [2.0, 1, -2]
    for sensor in ["gyroscope", "accelerometer", "magnetometer", "gravity"] {
      #expect(samples(capture, of: sensor).last == stored)
    }
    let degrees: [Double] = [-2, 1, 2]
    #expect(samples(capture, of: "attitude").last == degrees.map { $0 * .pi / 180 })
    #expect(capture.totals() == [.calibrationMissing: 1])
  }

  @Test(
    "The format line decides the byte order, whatever the system",
    arguments: [("binary_little_endian", false), ("binary_big_endian", true)])
  func byteOrder(format: String, bigEndian: Bool) throws {
    let folder = try Samples.motionOnly()
    let streams = Samples.motionKinds.map { Samples.stream($0, $0, frames: 10) }
    try folder.write("\(Samples.stem).json", Samples.metadata(streams))
    try folder.write(
      "\(Samples.stem).rot",
      Samples.motion("rot", records: 0..<10, format: format, bigEndian: bigEndian))
    let capture = try folder.open()
    #expect(capture.generation == "ios-single")
    #expect(samples(capture, of: "rotationRate").last == [9, 4.5, -9])
  }

  @Test(
    "Records as text are read like binary ones; four numbers are a time and three values, whatever their names",
    arguments: ["\n", "\r\n"], [[], ["a", "b", "c", "d"]])
  func ascii(lineEnd: String, names: [String]) throws {
    let folder = try Samples.motionOnly()
    let lines =
      ["ply", "format ascii 1.0", "element rot 3", "comment x"]
      + names.map { "property double \($0)" } + [
        "end_header", "5000000000000000001 1 2.5 -3e-2", "5000000000010000001 nan 0 0",
        "5000000000020000001 1 2",
      ]
    try folder.write(
      "\(Samples.stem).rot", lines.map { $0 + lineEnd }.joined())
    let capture = try folder.open()
    #expect(samples(capture, of: "rotationRate") == [[1, 2.5, -0.03]])
    let imu = try #require(capture.imu.value)
    let last = imu.samples.last { imu.sensors[$0.sensor] == "rotationRate" }
    #expect(last?.timestamp.nanoseconds == 5_000_000_000_000_000_001)
    #expect(capture.total(.imuPartialRecord, "imu") == 1)
    #expect(capture.total(.nonFiniteValue, "imu") == 1)
    #expect(capture.total(.frameCountMismatch, "imu") == 1)
  }

  @Test(
    "Records are read by the names and types of the header; what is not understood is named",
    arguments: [
      (["float z", "uint64 timestamp", "short other", "float x", "double y"], nil),
      (["int timestamp", "double x", "double y", "double z"], "int32 timestamp"),
      (["int64 timestamp", "list uchar int v"], "list uchar int v"),
      (["int64 timestamp", "double a", "double b"], "float64 a, float64 b"),
    ] as [([String], String?)])
  func ownProperties(properties: [String], refused: String?) throws {
    let folder = try Samples.motionOnly()
    let lines =
      ["ply", "format binary_little_endian 1.0", "element rot 3"]
      + properties.map { "property " + $0 } + ["end_header\n"]
    var bytes = Array(lines.joined(separator: "\n").utf8)
    func put(_ bits: some FixedWidthInteger) {
      bytes += withUnsafeBytes(of: bits.littleEndian) { Array($0) }
    }
    for k in 0..<3 {
      put(Float(-k).bitPattern)
      put(UInt64(5_000_000_000 + k * 10_000_000))
      put(Int16(-7))
      put(Float(k).bitPattern)
      put((Double(k) / 2).bitPattern)
    }
    try folder.write("\(Samples.stem).rot", bytes)
    let capture = try folder.open()
    let message = capture.warnings.first { $0.code == .unsupportedStream }?.message
    if let refused {
      #expect(samples(capture, of: "rotationRate").isEmpty)
      #expect(message?.contains(refused) == true, "\(message ?? "nothing")")
    } else {
      #expect(samples(capture, of: "rotationRate") == [[0, 0, 0], [1, 0.5, -1], [2, 1, -2]])
      #expect(message == nil && capture.total(.imuPartialRecord) == 0)
    }
    #expect(samples(capture, of: "magnetometer").count == 10)
  }

  @Test("The header's count is a claim", arguments: [0, 9, 10, 11, 5000, Int.max])
  func declared(count: Int) throws {
    let folder = try Samples.motionOnly()
    try folder.write(
      "\(Samples.stem).mag", Samples.motion("mag", records: 0..<10, declared: count))
    let capture = try folder.open()
    #expect(samples(capture, of: "magnetometer").count == 10)
    #expect(capture.total(.frameCountMismatch, "imu") == abs(count - 10))
  }

  @Test("Without header, records start at byte 0")
  func headless() throws {
    let folder = try Samples.motionOnly()
    try folder.write(
      "\(Samples.stem).grav", Samples.motion("grav", records: 0..<10, format: nil) + [1, 2, 3])
    let capture = try folder.open()
    #expect(samples(capture, of: "gravity").count == 10)
    #expect(capture.total(.truncatedStream, "imu") == 1)
    #expect(capture.total(.imuPartialRecord, "imu") == 1)
  }

  @Test("A motion file cut anywhere keeps the whole records before the cut")
  func cut() throws {
    let folder = try Samples.motionOnly()
    let whole = Samples.motion("acce", records: 0..<10)
    let header = whole.count - 320
    for end in 0..<whole.count {
      try folder.write("\(Samples.stem).acce", whole[..<end])
      let capture = try folder.open()
      let found = samples(capture, of: "userAcceleration")
      guard end >= 4 else { continue }
      #expect(found.count == max(0, end - header) / 32)
      #expect(capture.total(.truncatedStream, "imu") == (end < header ? 1 : 0))
      #expect(
        capture.total(.imuPartialRecord, "imu") == (end > header && (end - header) % 32 > 0 ? 1 : 0)
      )
    }
  }

  @Test("Samples with NaN or infinity have no row; of two at one time the first stays")
  func badSamples() throws {
    let folder = try Samples.motionOnly()
    var bytes = Samples.motion("rot", records: 0..<10, format: nil)
    // Record 3: x becomes NaN. Record 5 takes the time of record 4.
    bytes.replaceSubrange(3 * 32 + 8..<3 * 32 + 16, with: [0, 0, 0, 0, 0, 0, 0xf8, 0x7f])
    bytes.replaceSubrange(5 * 32..<5 * 32 + 8, with: bytes[4 * 32..<4 * 32 + 8])
    try folder.write("\(Samples.stem).rot", bytes)
    let capture = try folder.open()
    #expect(samples(capture, of: "rotationRate").map { $0[0] } == [0, 1, 2, 4, 6, 7, 8, 9])
    #expect(capture.total(.nonFiniteValue, "imu") == 1)
    #expect(capture.total(.timestampsDuplicate, "imu") == 1)
  }

  @Test("One absent file is named; all absent is one fact; LiDAR writes none")
  func absentFiles() throws {
    let folder = try Samples.motionOnly()
    try folder.remove("\(Samples.stem).grav")
    try folder.remove("\(Samples.stem).mag")
    let some = try folder.open()
    #expect(some.total(.missingFile, "grav") == 1)
    #expect(some.total(.missingFile, "mag") == 1)
    #expect(some.total(.imuMissing) == 0)
    for kind in ["rot", "acce", "atti"] { try folder.remove("\(Samples.stem).\(kind)") }
    let streams = Samples.motionKinds.map { Samples.stream($0, $0, frames: 10) }
    try folder.write("\(Samples.stem).json", Samples.metadata(streams))
    let none = try folder.open()
    #expect(none.total(.imuMissing, "imu") == 1)
    #expect(none.total(.missingFile) == 0)
    let lidar = try Samples.lidar(frames: 1).open()
    #expect(lidar.imu.value == nil)
    #expect(lidar.totals().isEmpty)
  }
}
