import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Captures

@Suite("Values that cannot be")
struct PlausibleValuesTests {
  /// What a sensor holds, and a part of the sentence about it; `nil` for silence.
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let sensor: String
    let unit: AccelerationUnit
    let seconds: Double
    let doubt: String?
    let value: @Sendable (Double) -> (Double, Double, Double)

    /// - Parameter value: by the time in seconds.
    init(
      _ name: String, _ sensor: String, unit: AccelerationUnit = .metersPerSecondSquared,
      seconds: Double = 12, _ doubt: String?,
      _ value: @escaping @Sendable (Double) -> (Double, Double, Double)
    ) {
      testDescription = name
      (self.sensor, self.unit, self.seconds, self.doubt) = (sensor, unit, seconds, doubt)
      self.value = value
    }

    var samples: [IMUSample] {
      (0..<Int(seconds * 50)).map { index in
        let time = Double(index) / 50
        let (x, y, z) = value(time)
        return IMUSample(
          timestamp: Timestamp(nanoseconds: 1_000_000_000 + Int64(time * 1e9)), sensor: 0, x: x,
          y: y,
          z: z)
      }
    }
  }

  /// A wave between -1 and 1.
  private static func wave(_ time: Double) -> Double {
    abs(time.truncatingRemainder(dividingBy: 4) - 2) - 1
  }

  private static let rows = [
    Row("a phone at rest", "accelerometer", nil) { (0, 0.02 * wave($0), -9.81) },
    Row("a fall of a second", "accelerometer", nil) { $0 < 1 ? (0, 0, 0.1) : (0, 0, 9.8) },
    Row("shaken for three seconds", "accelerometer", nil) { $0 < 3 ? (60, 0, 0) : (0, 9.8, 0) },
    Row("g in place of m/s²", "accelerometer", "cannot be m/s², as its column says; it may be g") {
      (0.2 * wave($0), 0, -0.98)
    },
    Row("gravity in g", "gravity", "it may be g") { (0.1 * wave($0), 0, -1) },
    Row("gravity of zeros", "gravity", "cannot be m/s²") { _ in (0, 0, 0) },
    Row(
      "m/s² in place of g", "gravity", unit: .g, "cannot be g, as its column says; it may be m/s²"
    ) {
      (0, wave($0), -96.17)
    },
    Row("nothing moves", "userAcceleration", nil) { _ in (0, 0, 0) },
    Row("m/s² multiplied again", "userAcceleration", unit: .g, "cannot be g") { _ in (30, 30, 0) },
    Row("turning by hand", "gyroscope", nil) { (2 * wave($0), 0.4, wave($0 + 1)) },
    Row("a gyroscope at rest", "gyroscope", nil) { (0.01, 0.001 * wave(7 * $0), 0.002) },
    Row("a gyroscope at rest with much bias", "gyroscope", nil) { _ in (0.2, 0.1, 0) },
    Row("a gyroscope of zeros", "gyroscope", nil) { _ in (0, 0, 0) },
    Row("degrees", "gyroscope", "it may be degrees per second") { (40 + wave($0), 20, 0) },
    Row("degrees of a slow walk", "gyroscope", "it may be degrees per second") {
      (10 + wave($0), 3, 0)
    },
    Row("turned by half a turn per second", "gyroscope", nil) { (3 + wave($0), 0.4, 1) },
    Row("degrees, without bias", "rotationRate", "degrees per second") { _ in (0, 0, -50) },
    Row("a column of gravity", "rotationRate", "a column of gravity") {
      let x = 0.5 * wave($0)
      return (x, 0, -(1 - x * x).squareRoot())
    },
    Row("the same for less than ten seconds", "gyroscope", seconds: 9.5, nil) { _ in (0, 0, -9.81)
    },
    Row("degrees of attitude", "attitude", "it may be degrees") { _ in (5, 80, 170) },
    Row("a field in a building", "magnetometer", nil) { _ in (200, 0, 90) },
    Row("too few samples for a median", "gravity", seconds: 0.08, nil) { _ in (0, 0, 1) },
  ]

  @Test(
    "are told by the median of a sensor and its unit, and rest and falls are silent",
    arguments: rows)
  func motion(row: Row) throws {
    var stream = IMUStream.sorting(
      row.samples, sensorNames: [row.sensor],
      description: StreamDescription(file: "imu", encoding: "csv"), convention: .coremotion
    ).stream
    stream.recordedAcceleration = row.unit
    var capture = Self.capture()
    capture.imu = .present(stream)
    capture.tellWhatCannotBe()
    let told = capture.warnings.filter { $0.code == .implausibleUnit }
    #expect(told.map(\.subject) == (row.doubt == nil ? [] : [row.sensor]))
    #expect(told.allSatisfy { $0.severity == .warning && $0.count == stream.samples.count })
    if let doubt = row.doubt { #expect(told.first?.message.contains(doubt) == true) }
    #expect(ExportFacts(capture).doubtfulSensors == (row.doubt == nil ? nil : [row.sensor]))
  }

  private static func capture(frames: Int = 12) -> Capture {
    var capture = Capture(
      id: "x", family: .strayScanner, generation: "png", folder: "/nowhere",
      clock: CaptureClock(.uptime, unit: "s"))
    capture.frames = (0..<frames).map {
      CaptureFrame(timestamp: Timestamp(nanoseconds: 1_000_000_000 + Int64($0) * 33_333_333))
    }
    return capture
  }

  @Test(
    "Poses in millimeters and jumps of kilometers are told",
    arguments: [
      (0.01, 0.0, []), (10.0, 0.0, [12]), (0.01, 900.0, []), (0.01, 2000.0, [1]),
    ] as [(Double, Double, [Int])])
  func poses(step: Double, jump: Double, counts: [Int]) {
    var capture = Self.capture()
    capture.poses = .present(
      PoseStream(
        description: StreamDescription(file: "poses", encoding: "csv"),
        rows: capture.frames.indices.map { frame in
          PoseStream.Row(
            frame: frame,
            pose: Pose(
              position: [Double(frame) * step + (frame > 7 ? jump : 0), 0, 0],
              orientation: Quaternion(x: 0, y: 0, z: 0, w: 1)))
        }))
    capture.tellWhatCannotBe()
    #expect(capture.warnings.map(\.count) == counts)
    #expect(capture.warnings.allSatisfy { $0.code == .implausibleUnit && $0.subject == "poses" })
  }

  @Test(
    "A fix that is kilometers away within seconds is told, a flight and the date line are not",
    arguments: [
      ((50, 8), (50.001, 8.001), 1, 0), ((50, 8), (50.1, 8), 5, 1), ((50, 8), (50, 8.1), 5, 1),
      ((0, 179.9999), (0, -179.9999), 1, 0), ((50, 8), (50.02, 8), 10, 0), ((50, 8), (8, 50), 1, 1),
      ((80, 0), (80, 0.04), 1, 0),
    ] as [((Double, Double), (Double, Double), Int, Int)])
  func track(from: (Double, Double), to: (Double, Double), seconds: Int, count: Int) {
    var capture = Self.capture()
    let positions = [(from, 0), (to, seconds)].map { place, second in
      GeoPosition(
        timestamp: Timestamp(nanoseconds: Int64(second) * 1_000_000_000), latitude: place.0,
        longitude: place.1, accuracy: 5)
    }
    capture.geo = .present(
      GeoStream(
        description: StreamDescription(file: "geo", encoding: "json"),
        track: GeoTrack(positions: positions), coverage: .everyFrame))
    capture.tellWhatCannotBe()
    #expect(capture.warnings.filter { $0.subject == "geo" }.reduce(0) { $0 + $1.count } == count)
  }

  @Test(
    "Focal lengths outside 0.2 to 10 widths are told, and principal points outside the picture, in a corner, or exchanged",
    arguments: [
      (1450.0, 1450.0, 960.0, 720.0, 0), (1450, 960, 1450, 720, 12), (1450, 960, 960, 720, 0),
      (4.25, 4.25, 960, 720, 12), (384.5, 384.5, 960, 720, 0), (383, 383, 960, 720, 12),
      (19_200, 19_200, 960, 720, 0), (19_201, 19_201, 960, 720, 12),
      (1450, 1450, 1921, 720, 12), (1450, 1450, 1920, 720, 0), (1450, 1450, 720, 1450, 12),
      (1450, 1450, -2, 720, 12), (1450, 960, -2, 720, 12), (1450, 1450, 0, 0, 12),
      (1450, 1450, 1919, 0, 12), (1450, 1450, 0, 720, 0), (2900, 2900, 1917, 1437, 12),
      (1450, 1450, 180, 1310, 12), (1450, 1450, 200, 1310, 0),
    ])
  func cameras(fx: Double, fy: Double, cx: Double, cy: Double, count: Int) {
    var capture = Self.capture()
    capture.intrinsics = .present(
      capture.frames.indices.map {
        IntrinsicsRow(frame: $0, width: 1920, height: 1440, fx: fx, fy: fy, cx: cx, cy: cy)
      })
    capture.tellWhatCannotBe()
    #expect(capture.warnings.reduce(0) { $0 + $1.count } == count)
  }

  @Test(
    "So are focal lengths of a depth camera that is not that of color",
    arguments: [(500.0, false, 0), (5, false, 1), (5, true, 0)])
  func depthCamera(focalLength: Double, isRegistered: Bool, count: Int) {
    var capture = Self.capture()
    capture.alignment = DepthCalibration(
      registered: isRegistered,
      depthIntrinsics: PinholeCamera(
        width: 640, height: 480, fx: focalLength, fy: focalLength, cx: 320, cy: 240))
    capture.tellWhatCannotBe()
    #expect(capture.warnings.count { $0.subject == "depthIntrinsics" } == count)
  }

  @Test(
    "A median depth below 5 cm or above 100 m is told, few near values are not",
    arguments: [
      ([1500, 0, 1500], 0, 0), ([2, 1, 3], 0, 3), ([49, 50, 49], 0, 2), ([0, 0, 0], 0, 0),
      ([1500, 4, 1500], 0, 0), ([0, 0, 0], 3000, 3), ([1500, 1500, 1500], 500, 0),
    ] as [([UInt16], Int, Int)])
  func depth(frames: [UInt16], tooFar: Int, count: Int) {
    let tally = OutcomeTally(subject: "depth")
    for value in frames {
      tally.add(
        RecordOutcome(hasPicture: true, tooFar: tooFar), [UInt16](repeating: value, count: 3072))
    }
    #expect(tally.warnings.map(\.count) == (count == 0 ? [] : [count]))
    #expect(tally.warnings.allSatisfy { $0.code == .implausibleUnit && $0.subject == "depth" })
    let confidence = OutcomeTally(subject: "confidence")
    confidence.add(.picture, [UInt8](repeating: 1, count: 3072))
    #expect(confidence.warnings.isEmpty)
  }

  @Test(
    "Spans more than a second apart are told as two clocks, by both spans; the IMU may start late",
    arguments: [(0, false), (1, false), (1_712_600_000, true), (-2, true)] as [(Int64, Bool)])
  func clocks(seconds: Int64, areTwo: Bool) throws {
    var capture = Self.capture()
    let samples = (0..<40).map { index in
      IMUSample(
        timestamp: Timestamp(
          nanoseconds: 1_000_000_000 * (seconds + 1) + Int64(index) * 10_000_000), sensor: 0,
        x: 0.1,
        y: 0, z: 0)
    }
    capture.imu = .present(
      IMUStream.sorting(
        samples, sensorNames: ["gyroscope"],
        description: StreamDescription(file: "imu", encoding: "csv"), convention: .coremotion
      ).stream)
    capture.tellWhatCannotBe()
    #expect(capture.warnings.map(\.code) == (areTwo ? [.imuOutsideFrames] : []))
    guard areTwo else { return }
    let message = try #require(capture.warnings.first?.message)
    #expect(message.contains("1.000 to 1.366 s"))
    #expect(message.contains("different clocks"))
    #expect(message.contains("2024-04-08T") == (seconds > 0))
  }

  @Test(
    "Two clocks whose numbers differ by a factor of units of time are told as a wrong unit",
    arguments: [
      (5_000_000_000_000, "by a factor of 1000,"), (5_000_000_000, nil),
      (5_000_000_000_000_000, "by a factor of 1000000,"), (5_100_000_000_000, nil),
    ] as [(Int64, String?)])
  func unitsOfTime(nanoseconds: Int64, factor: String?) throws {
    var capture = Self.capture()
    for index in capture.frames.indices {
      capture.frames[index].timestamp = Timestamp(nanoseconds: 5_000_000_000 + Int64(index))
    }
    let samples = (0..<40).map {
      IMUSample(
        timestamp: Timestamp(nanoseconds: nanoseconds + Int64($0)), sensor: 0, x: 0.1, y: 0, z: 0)
    }
    capture.imu = .present(
      IMUStream.sorting(
        samples, sensorNames: ["gyroscope"],
        description: StreamDescription(file: "imu", encoding: "csv"), convention: .coremotion
      ).stream)
    capture.tellWhatCannotBe()
    let messages = capture.warnings.map(\.message)
    #expect(messages.count == (nanoseconds == 5_000_000_000 ? 0 : 1))
    #expect(messages.contains { $0.contains("by a factor of") } == (factor != nil), "\(messages)")
    #expect(factor == nil || messages[0].contains(factor ?? ""), "\(messages)")
  }

  @Test("A unit that somebody states replaces the reader's, and nothing else moves")
  func statedUnits() {
    let names = ["accelerometer", "gravity", "gyroscope", "magnetometer"]
    let samples = names.indices.map {
      IMUSample(timestamp: Timestamp(nanoseconds: 5), sensor: $0, x: 1, y: -2, z: 0)
    }
    var stream = IMUStream.sorting(
      samples, sensorNames: names, description: StreamDescription(file: "imu", encoding: "csv"),
      convention: .android
    ).stream
    func values(_ acceleration: AccelerationUnit?, _ rotation: RotationUnit?) -> [Double] {
      // Streams order their sensors themselves.
      let recorded = stream.recorded(in: acceleration, rotation)
      return names.compactMap { name in
        recorded.samples.first { recorded.sensors[$0.sensor] == name }?.x
      }
    }
    #expect(values(nil, nil) == [1, 1, 1, 1])
    #expect(values(.metersPerSecondSquared, .radiansPerSecond) == [1, 1, 1, 1])
    let (g, degree): (Double, Double) = (9.80665, .pi / 180)
    #expect(values(.g, .degreesPerSecond) == [g, g, degree, 1])
    stream.recordedAcceleration = .g
    #expect(values(.g, nil) == [1, 1, 1, 1])
    #expect(values(.metersPerSecondSquared, nil) == [1 / g, 1 / g, 1, 1])
  }
}

@Suite("Times that lost digits")
struct TruncatedTimesTests {
  private static func stream(
    _ times: [Int64], value: (Int) -> Double = { Double($0) }
  ) -> (stream: IMUStream, duplicates: [String: Int]) {
    IMUStream.sorting(
      times.enumerated().map { index, time in
        IMUSample(
          timestamp: Timestamp(nanoseconds: time), sensor: 0, x: value(index), y: 0, z: 0)
      }, sensorNames: ["gyroscope"],
      description: StreamDescription(file: "imu", encoding: "csv"), convention: .coremotion)
  }

  private static let tenth: Int64 = 100_000_000

  @Test(
    "Samples of one stamp are spread up to the next one in the order of the file, over no pause")
  func spread() throws {
    let times = [10, 10, 10, 10, 11, 11, 12, 12, 40, 40].map { $0 * Self.tenth }
    let (stream, duplicates) = Self.stream(times)
    let spread: [Int64] = [1000, 1025, 1050, 1075, 1100, 1150, 1200, 1250, 4000, 4050]
    #expect(stream.samples.map(\.timestamp.nanoseconds) == spread.map { $0 * 1_000_000 })
    #expect(stream.samples.map(\.x) == (0..<10).map(Double.init))
    #expect(duplicates.isEmpty)
    let found = try #require(stream.truncatedTimes["gyroscope"])
    #expect(found.count == 10)
    #expect(found.stepNanoseconds == Self.tenth)
    #expect(
      found.words(of: "gyroscope").contains("all times of the gyroscope are multiples of 100 ms"))
  }

  @Test("A fifth of repeated times are duplicates, more are lost digits")
  func fifth() {
    func times(_ repeated: Int) -> [Int64] {
      (0..<100).map { Int64($0 < 2 * repeated ? $0 / 2 : $0 - repeated) * Self.tenth + Self.tenth }
    }
    #expect(Self.stream(times(20)).duplicates == ["gyroscope": 20])
    #expect(Self.stream(times(20)).stream.truncatedTimes.isEmpty)
    #expect(Self.stream(times(21)).duplicates.isEmpty)
    #expect(Self.stream(times(21)).stream.samples.count == 100)
  }

  @Test("A block that was written twice is a block that was written twice")
  func block() {
    let times = (Int64(0)..<60).map { 1_000_000_007 + $0 % 30 * 10_008_013 }
    let (stream, duplicates) = Self.stream(times) { Double($0 % 30) }
    #expect(duplicates == ["gyroscope": 30])
    #expect(stream.samples.count == 30)
    #expect(stream.truncatedTimes.isEmpty)
  }

  @Test("Seconds as floats lose digits, too, and one time alone cannot be spread")
  func floats() throws {
    let times = (0..<100).map { index in
      let seconds: Double = 942_355.6 + Double(index) / 60
      return Int64(Double(Float(seconds)) * 1e9)
    }
    let (stream, duplicates) = Self.stream(times)
    #expect(duplicates.isEmpty)
    #expect(stream.truncatedTimes["gyroscope"]?.stepNanoseconds == 62_500_000)
    #expect(
      zip(stream.samples, stream.samples.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
    #expect(Self.stream([5, 5, 5]).duplicates == ["gyroscope": 2])
  }
}

@Suite("VI-SLAM cases of values that cannot be", .needsReports)
struct VISLAMValueCaseTests {
  private func warnings(_ capture: Capture, _ code: WarningCode) -> [String: Int] {
    Dictionary(
      capture.warnings.filter { $0.code == code }.map { ($0.subject, $0.count) }
    ) { $0 + $1 }
  }

  @Test("An accelerometer in g is told and not converted")
  func inG() throws {
    let capture = try Capture.report("vislam-accelerometer-in-g")
    let counts = try #require(capture.imu.value).sampleCounts
    #expect(
      warnings(capture, .implausibleUnit)
        == ["accelerometer": counts["accelerometer"], "gravity": counts["gravity"]].compactMapValues
      { $0 })
    let first = capture.imu.value?.samples.first { $0.sensor == 0 }
    #expect(first?.x == -0.8656720341856786)
  }

  @Test("A fused record is read by its whole header, in m/s²")
  func fused() throws {
    let capture = try Capture.report("vislam-fused-header")
    let imu = try #require(capture.imu.value)
    #expect(imu.sensors == ["magnetometer", "userAcceleration", "rotationRate", "gravity"])
    #expect(imu.convention == .coremotion)
    #expect(imu.samples.count == 4 * 150)
    #expect(imu.samples[1].x == 0.052112544303835426 * 9.80665)
    #expect(imu.samples[2].y == 0.014398876811207014)
    #expect(imu.samples[3].z == -0.400323374763376 * 9.80665)
    #expect(warnings(capture, .implausibleUnit).isEmpty)
  }

  @Test("Seven digits: no sample is dropped, all lie within the film")
  func sevenDigits() throws {
    let capture = try Capture.report("vislam-seven-digits")
    let imu = try #require(capture.imu.value)
    #expect(imu.samples.count == 5080)
    #expect(warnings(capture, .timestampsTruncated) == imu.sampleCounts)
    #expect(warnings(capture, .timestampsDuplicate).isEmpty)
    #expect(
      capture.warnings.contains {
        $0.message.contains("all times of the gyroscope are multiples of 100 ms")
      })
  }

  @Test("Two clocks: the message has both spans")
  func twoClocks() throws {
    let capture = try Capture.report("vislam-two-clocks")
    let told = capture.warnings.filter { $0.code == .imuOutsideFrames }
    #expect(told.map(\.count) == [40])
    let message = try #require(told.first?.message)
    #expect(message.contains("1712658442.489 to 1712658443.7"))
    #expect(message.contains("58442.389 to 58443.8"))
    #expect(message.contains("different clocks"))
  }

  @Test("The other sessions of the cases have nothing of it")
  func others() throws {
    for name in ["vislam-even-first-row-missing", "vislam-video-starts-before-table/session"] {
      let capture = try Capture.report(name)
      #expect(warnings(capture, .implausibleUnit).isEmpty)
      #expect(warnings(capture, .timestampsTruncated).isEmpty)
    }
  }
}

@Suite("VI-SLAM frame times that lost digits")
struct VISLAMFrameTimeTests {
  /// Rows 33 ms apart, in order, at times that are multiples of `step`.
  private func open(step: Int64, twice: Bool) throws -> Capture {
    let scratch = try VISLAMScratch()
    let rows = (0..<30).map { index in
      let time = VISLAMTables.start + Int64(index) * 33_000_000
      return "\(index),\(time / step * step),0.01,\(100 + index),4.25,320,180\n"
    }
    try scratch.write(
      VISLAMTables.frameHeader + rows.joined() + (twice ? rows.joined() : ""),
      to: "frame_metadata.csv")
    try scratch.write(VISLAMTables.imuHeader + VISLAMTables.imu(120), to: "imu_data.csv")
    return try scratch.open()
  }

  @Test("No row is dropped, and the order of the file stays")
  func truncated() throws {
    let capture = try open(step: 100_000_000, twice: false)
    #expect(capture.frames.count == 30)
    #expect(capture.warningCounts["timestamps-truncated"] == 30)
    #expect(capture.warningCounts["timestamps-duplicate"] == nil)
    let sensitivities: [Double?] = (100..<130).map { Double($0) }
    #expect(capture.cameraSettings.value?.rows.map(\.iso) == sensitivities)
    let times = capture.frames.compactMap(\.timestamp)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("A table that was written twice is no such table")
  func twice() throws {
    let capture = try open(step: 1_000_000, twice: true)
    #expect(capture.frames.count == 30)
    #expect(capture.warningCounts["timestamps-truncated"] == nil)
    #expect(capture.warningCounts["timestamps-duplicate"] == 30)
  }
}
