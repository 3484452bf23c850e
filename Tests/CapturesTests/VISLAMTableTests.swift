@testable import Captures
@testable import Core
import SystemPackage
import Testing

@Suite("VI-SLAM: reading the IMU table")
struct VISLAMTableTests {
  /// Opens a session whose only table is `text`; the codes of its missing files are left out.
  private func read(
    _ text: String, file: String = "imu_data.csv"
  ) throws -> (imu: StreamState<IMUStream>, warnings: [String: Int], capture: Capture) {
    let scratch = try VISLAMScratch()
    try scratch.write(text, to: file)
    try scratch.write(
      VISLAMTables.frameHeader + VISLAMTables.frames([1, 2, 3]), to: "frame_metadata.csv")
    let capture = try scratch.open()
    var warnings = capture.warningCounts
    #expect(warnings.removeValue(forKey: "missing-file") == 1)
    return (capture.imu, warnings, capture)
  }

  private let rows = VISLAMTables.imu(20)

  @Test(
    "Headers may be commented, reordered, in any case, with units, and separated by other marks",
    arguments: [
      ("timestamp_ns,sensor_type,x,y,z", ","), ("TIMESTAMP_NS, Sensor_Type , X,Y,Z", ","),
      ("timestamp_ns [ns],sensor_type,x (m/s^2),y [rad/s],z", ","),
      ("# a comment, with commas\n#\n# timestamp_ns,sensor_type,x,y,z", ","),
      ("#timestamp_ns,sensor_type,x,y,z", ","), ("timestamp_ns;sensor_type;x;y;z", ";"),
      ("timestamp_ns\tsensor_type\tx\ty\tz", "\t"),
      ("\u{FEFF}\n\n\"timestamp_ns\",\"sensor_type\",\"x\",\"y\",\"z\"", ","),
      ("timestamp_ns,sensor_type,x,y,z,", ","),
    ])
  func headers(header: String, delimiter: String) throws {
    let rows = rows.replacing(",", with: delimiter)
    // A header that ends in a delimiter has a nameless column.
    let ends = header.hasSuffix(",") ? rows.replacing("\n", with: ",\n") : rows
    let (imu, warnings, capture) = try read(header + "\n" + ends)
    #expect(imu.value?.sampleCounts == ["accelerometer": 20, "gyroscope": 20])
    #expect(warnings.isEmpty)
    #expect(capture.generation == "v1")
  }

  @Test("Without a header the app's own order is taken")
  func noHeader() throws {
    let (imu, warnings, capture) = try read(rows)
    #expect(imu.value?.samples.count == 40)
    #expect(warnings.isEmpty)
    #expect(capture.generation == "v1")
  }

  @Test("Line ends of every kind give the same samples", arguments: ["\n", "\r\n", "\r", "\n\n"])
  func lineEnds(end: String) throws {
    let text = (VISLAMTables.imuHeader + rows).replacing("\n", with: end)
    let (imu, warnings, _) = try read(text + "\0\0\0")
    #expect(imu.value?.samples.count == 40)
    #expect(imu.value?.samples.first?.z == 0.3)
    #expect(warnings.isEmpty)
  }

  @Test("Unknown columns are counted, those of the bias form are not")
  func unknownColumns() throws {
    let wide = rows.replacing("\n", with: ",1,2,3\n")
    let (imu, warnings, capture) = try read(
      "timestamp_ns,sensor_type,x,y,z,accuracy,weather,temperature\n" + wide)
    #expect(imu.value?.samples.count == 40)
    #expect(warnings == ["unknown-key": 2])
    #expect(capture.generation == "android")
    #expect(imu.value?.convention == .coremotion)
  }

  @Test(
    "A missing column makes the table unreadable and is named",
    arguments: [
      ("timestamp_ns,sensor_type,x,y", "`z`"), ("sensor_type,x,y,z", "`timestamp_ns`"),
      ("timestamp_ns,kind,x,y,z", "`sensor_type`"),
      ("timestamp_ns,accel_x,accel_y,accel_z,gyro_x,gyro_y", "`gyro_z`"),
      ("time,a,b", "`timestamp_ns`"),
    ])
  func missingColumn(header: String, name: String) throws {
    let (imu, _, capture) = try read(header + "\n1,2,3\n")
    let message = try #require(imu.error).description
    #expect(message.contains("imu_data.csv"))
    #expect(message.contains(name))
    #expect(capture.frames.count == 3)
  }

  @Test("Known sensors in other spellings are reported, and make the session an Android one")
  func spellings() throws {
    let names = [
      "ACCEL": "accelerometer", "acc": "accelerometer", "a": "accelerometer", "Gyro": "gyroscope",
      "gyr": "gyroscope", "g": "gyroscope", "w": "gyroscope", "MAG": "magnetometer",
      "m": "magnetometer", "linear_acceleration": "userAcceleration",
      "Linear-Acceleration": "userAcceleration", "user acceleration": "userAcceleration",
      "rotation_rate": "rotationRate", "grav": "gravity", "Magnetometer": "magnetometer",
    ]
    for (name, sensor) in names {
      let (imu, warnings, capture) = try read(
        VISLAMTables.imuHeader + "10,\(name),1,2,3\n20,\(name),1,2,3\n30,\(name),1,2,3\n")
      #expect(imu.value?.sensors == [sensor], "\(name)")
      #expect(imu.value?.convention == .android)
      #expect(capture.generation == "android")
      #expect(warnings.keys.allSatisfy { $0 == "imu-outside-frames" })
    }
  }

  @Test("An unknown sensor keeps its spelling, sorts last, and decides nothing")
  func unknownSensor() throws {
    let (imu, warnings, capture) = try read(
      VISLAMTables.imuHeader + rows
        + "1000000000001,Baro_Meter,1,2,3\n1004000000000,Baro_Meter,1,2,3\n")
    #expect(imu.value?.sensors == ["accelerometer", "gyroscope", "Baro_Meter"])
    #expect(warnings == ["unknown-key": 2])
    #expect(capture.generation == "v1")
    #expect(imu.value?.convention == .coremotion)
  }

  @Test("The wide form holds the accelerometer first; three empty cells are no sample")
  func wide() throws {
    let header = "timestamp_ns,accel_x,accel_y,accel_z,gyro_x,gyro_y,gyro_z\n"
    let (imu, warnings, capture) = try read(
      header + "1000000000000,1,2,3,4,5,6\n1000010000000,,,,7,8,9\n1000020000000,1,2,3,,,\n"
        + "1000030000000,,,,,,\n1000040000000,1,,3,4,5,6\n1000050000000,1,2,3,4,nan,6\n"
        + "1000060000000,1,2,3,4,5,6\n")
    #expect(imu.value?.sampleCounts == ["accelerometer": 3, "gyroscope": 3])
    #expect(imu.value?.samples.first?.x == 1)
    #expect(imu.value?.samples.dropFirst().first?.x == 4)
    #expect(warnings == ["corrupt-record": 1, "non-finite-value": 1, "imu-outside-frames": 2])
    #expect(capture.generation == "android")
    #expect(imu.value?.convention == .android)
  }

  @Test(
    "The sibling file's times are in the unit that its steps tell",
    arguments: [
      ("1000.01", "1000.02", "1000.03", 1_000_010_000_000),
      ("1000010", "1000020", "1000030.5", 1_000_010_000_000),
      ("1000010000", "1000020000", "1000030000", 1_000_010_000_000),
      ("1000010000000", "1000020000000", "1000030000000", 1_000_010_000_000),
      ("1769251200.000000001", "1769251200.01", "1769251200.02", 1_769_251_200_000_000_001),
    ] as [(String, String, String, Int64)])
  func units(a: String, b: String, c: String, first: Int64) throws {
    let text =
      "timestamp,ax,ay,az,gx,gy,gz\n" + [a, b, c].map { "\($0),1,2,3,4,5,6\n" }.joined()
    let (imu, _, capture) = try read(text, file: "imu.csv")
    #expect(imu.value?.samples.first?.timestamp.nanoseconds == first)
    #expect(imu.value?.sampleCounts == ["accelerometer": 3, "gyroscope": 3])
    #expect(capture.generation == "android")
  }

  @Test("The sibling file is not read if the app's own file exists")
  func siblingBeside() throws {
    let scratch = try VISLAMScratch()
    try scratch.write(VISLAMTables.imuHeader + rows, to: "imu_data.csv")
    try scratch.write("timestamp,ax,ay,az,gx,gy,gz\n1,1,1,1,1,1,1\n", to: "imu.csv")
    #expect(try scratch.open().imu.value?.samples.count == 40)
  }

  @Test("Integer times are never rounded, decimal ones exactly")
  func exactTimes() throws {
    let (imu, _, capture) = try read(
      VISLAMTables.imuHeader + "1769251200123456789,accelerometer,1,2,3\n"
        + "1769251200123456790,accelerometer,1,2,3\n+1769251200123456791,accelerometer,1,2,3\n"
        + "1769251200123456792.5,accelerometer,1,2,3\n"
        + "1.769251200123456794e18,accelerometer,1,2,3\n")
    #expect(
      imu.value?.samples.map(\.timestamp.nanoseconds) == [
        1_769_251_200_123_456_789, 1_769_251_200_123_456_790, 1_769_251_200_123_456_791,
        1_769_251_200_123_456_793, 1_769_251_200_123_456_794,
      ])
    #expect(capture.clock.base == .uptime)
  }

  @Test(
    "A row without usable time, with too few cells or with text for a number is dropped and counted",
    arguments: [
      "0,gyroscope,1,2,3", "-5,gyroscope,1,2,3", "abc,gyroscope,1,2,3", ",gyroscope,1,2,3",
      "99999999999999999999,gyroscope,1,2,3", "1000000500000,gyroscope,1,2",
      "1000000500000,gyroscope",
      "1000000500000,gyroscope,1,x,3", "1000000500000,gyroscope,1,,3", "1000000500000,,1,2,3",
      "1000000500000,gyroscope,1,0x2,3", "# a comment behind the header", "\u{1}\u{2}\u{3}",
      "nan,gyroscope,1,2,3",
    ])
  func corruptRows(row: String) throws {
    let (imu, warnings, _) = try read(VISLAMTables.imuHeader + row + "\n" + rows)
    #expect(imu.value?.samples.count == 40)
    #expect(warnings == ["corrupt-record": 1])
  }

  @Test(
    "A row with a value that is not finite is dropped and counted",
    arguments: ["nan,2,3", "1,INF,3", "1,2,-Infinity", "NaN,nan,NAN", "1e999,2,3"])
  func nonFinite(values: String) throws {
    let (imu, warnings, capture) = try read(
      VISLAMTables.imuHeader + "1000000500000,gyroscope,\(values)\n" + rows)
    #expect(imu.value?.samples.count == 40)
    #expect(warnings == ["non-finite-value": 1])
    #expect(capture.warnings.contains { $0.code == .nonFiniteValue && $0.subject == "imu" })
  }

  @Test(
    "The last line without line end is kept only when its needed cells are closed",
    arguments: [
      ("timestamp_ns,sensor_type,x,y,z\n", "1000200000000,gyroscope,1,2,3", 40),
      ("timestamp_ns,sensor_type,x,y,z\n", "1000200000000,gyroscope,1,2,3,", 41),
      ("timestamp_ns,sensor_type,x,y,z\n", "10003", 40),
      ("timestamp_ns,sensor_type,x,y,z,accuracy\n", "1000200000000,gyroscope,1,2,3,4", 41),
    ])
  func cutLine(header: String, last: String, samples: Int) throws {
    let rows = header.contains("accuracy") ? rows.replacing("\n", with: ",\n") : rows
    let (imu, warnings, capture) = try read(header + rows + last)
    #expect(imu.value?.samples.count == samples)
    #expect(warnings == ["truncated-stream": 1])
    #expect(!capture.completeness.isWhole)
  }

  @Test(
    "An empty table is a missing IMU",
    arguments: [
      ("", 0), ("timestamp_ns,sensor_type,x,y,z\n", 0), ("\0\0\0", 0), ("# only a comment\n", 0),
      ("timestamp_ns,sensor_type,x,y,z", 1), ("timestamp_ns,sens", 1),
      ("timestamp_ns,sensor_type,x,y,z\n12345", 1),
    ])
  func emptyTable(text: String, cut: Int) throws {
    let (imu, warnings, _) = try read(text)
    #expect(warnings["imu-missing"] == 1)
    #expect(warnings["truncated-stream"] ?? 0 == cut)
    #expect(warnings.count == 1 + cut)
    guard case .absent = imu else {
      Issue.record("an empty table must be absent: \(imu)")
      return
    }
  }

  @Test("A table of which no row can be used is unreadable, not empty")
  func nothingUsable() throws {
    let (imu, warnings, _) = try read(VISLAMTables.imuHeader + "1,gyroscope,a,b,c\n")
    #expect(imu.error?.description.contains("imu_data.csv") == true)
    #expect(warnings == ["corrupt-record": 1])
  }

  @Test("A name for every row is damage, not a new sensor each")
  func manyNames() throws {
    let damage = (0..<200).map { "\(1_000_000_000_000 + $0),s\($0),1,2,3\n" }.joined()
    let (imu, warnings, _) = try read(VISLAMTables.imuHeader + rows + damage)
    #expect(warnings["unknown-key"] == 64)
    #expect(warnings["corrupt-record"] == 136)
    #expect(imu.value?.sensors.count == 66)
  }

  @Test("The readout of the rolling shutter is the median of what rows state; 0 is unknown")
  func readout() throws {
    let made = MadeCapture(family: "vi-slam", generation: "android")
    let scratch = try VISLAMScratch(copyOf: made.folder())
    #expect(try scratch.open().color.value?.description.readoutSeconds == nil)
    let name = "frame_metadata.csv"
    var lines = String(decoding: try scratch.bytes(of: name), as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    try #require(lines[0].contains("focal_length_px,rolling_shutter_skew_ns"))
    for (line, value) in [(1, "16200000"), (2, "0"), (3, "16000000"), (5, "16100000")] {
      lines[line] = Substring(lines[line].replacing("4.25,,,", with: "4.25,,\(value),"))
    }
    try scratch.write(lines.joined(separator: "\n"), to: name)
    #expect(try scratch.open().color.value?.description.readoutSeconds == 0.0161)
  }
}
