import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages

@Suite("export-mcap")
struct ExportMCAPTests {
  private static let everything = TimedSample(
    times: [1_000_000_000, 1_033_000_000, 1_066_000_000],
    depthTimes: [1_000_000_000, 1_040_000_000, 1_040_000_000],
    poses: [0, 2], depths: [0, 1, 2], hasIntrinsics: true,
    gyroscope: [990_000_000, 1_000_000_000, 1_010_000_000, 1_020_000_000],
    accelerometer: [990_000_000, 1_010_000_000, 1_030_000_000])

  private static func parsed(_ output: StageBench.Output) throws -> ParsedMCAP {
    ParsedMCAP(try output.bytes("bag/bag.mcap"))
  }

  private static func count(_ output: StageBench.Output, _ reason: String) throws -> Bool {
    try output.text("export.json").contains("\"\(reason)\"")
  }

  @Test("Messages are in the order of time, those of one time in the order of topics")
  func order() throws {
    let output = try Self.everything.export(ExportMCAP.self)
    #expect(
      output.names.sorted() == [
        "README.txt", "bag/bag.mcap", "bag/metadata.yaml", "export.json", "frames.csv",
      ])
    let file = try Self.parsed(output)
    let topics = file.topics
    let found = file.messages.map { "\($0.time / 1_000_000) \(topics[$0.channel] ?? "")" }
    #expect(
      found == [
        "990 /tf_static", "990 /imu0", "1000 /tf", "1000 /pose", "1000 /imu0",
        "1000 /cam0/image_raw/compressed", "1000 /cam0/camera_info", "1000 /depth0/image_raw",
        "1000 /depth0/camera_info", "1010 /imu0", "1020 /imu0",
        "1033 /cam0/image_raw/compressed", "1033 /cam0/camera_info", "1040 /depth0/image_raw",
        "1040 /depth0/camera_info", "1066 /tf", "1066 /pose", "1066 /cam0/image_raw/compressed",
        "1066 /cam0/camera_info",
      ])
    // The third depth picture has the time of the second.
    #expect(try Self.count(output, "time-not-increasing"))
    #expect(
      try output.text("frames.csv")
        == "frame,timestamp_ns,name\n0,1000000000,1000000000\n1,1033000000,1033000000\n"
        + "2,1066000000,1066000000\n")
  }

  @Test("Bytes are the same for any number of cores, and those of yesterday")
  func sameBytes() throws {
    let outputs = try [1, 2, 8].map { try Self.everything.export(ExportMCAP.self, cores: $0) }
    let files = try outputs.map { try $0.bytes("bag/bag.mcap") }
    #expect(files[0] == files[1] && files[0] == files[2])
    #expect(
      Digest(of: files[0]).hex
        == "041a28e87dcf93af4ddbd9d2f46bb535ef4fb2baa3d686eaa3fe9df06ba2df6b")
  }

  @Test("Pictures are the files as they are, depth is little-endian millimeters")
  func payloads() throws {
    let file = try Self.parsed(try Self.everything.export(ExportMCAP.self))
    let topics = file.topics
    let pictures = file.messages.filter { topics[$0.channel] == "/cam0/image_raw/compressed" }
    for (frame, message) in pictures.enumerated() {
      #expect(Array(message.data.suffix(3)) == TimedSample.file(frame))
    }
    let depth = try #require(
      file.messages.last { topics[$0.channel] == "/depth0/image_raw" })
    // 1000…1007 mm.
    let bytes = Array(depth.data.suffix(16))
    let values = (0..<8).map { bytes.integer(at: 2 * $0, 2) }
    #expect(values == Array(1000...1007))
  }

  @Test(
    "Frames whose time is unknown, out of range, or not later are left out",
    arguments: [
      ([0, 1, 2], [0, 1, 2], nil),
      ([nil, 5, 6], [5, 6], "no-time"),
      ([5, 5, 4, 6], [5, 6], "time-not-increasing"),
      ([-1, 0, 7], [0, 7], "no-time"),
      (
        [1_000_000_000_000_000_000, 2_147_483_647_999_999_999, 2_147_483_648_000_000_000],
        [1_000_000_000_000_000_000, 2_147_483_647_999_999_999], "no-time"
      ),
      ([9], [9], nil),
    ] as [([Int64?], [UInt64], String?)])
  func times(times: [Int64?], expected: [UInt64], reason: String?) throws {
    let output = try TimedSample(times: times).export(ExportMCAP.self)
    let file = try Self.parsed(output)
    #expect(file.times == ["/cam0/image_raw/compressed": expected])
    if let reason { #expect(try Self.count(output, reason)) }
  }

  @Test(
    "Depth and pose of a frame without a picture are there; its time takes none from a picture, a choice skips it",
    arguments: [
      ([1000, 2000, 3000], [:], [1000, 2000, 3000], nil),
      ([1000, 3000, 3000], [:], [1000, 3000], "time-not-increasing"),
      ([1000, 2000, 3000], ["count": "2"], [1000, 3000], "no-picture"),
    ] as [([Int64?], [String: String], [UInt64], String?)])
  func lostPicture(
    times: [Int64?], settings: [String: String], expected: [UInt64], reason: String?
  ) throws {
    let sample = TimedSample(
      times: times, noPicture: [1], poses: [0, 1, 2], depths: [0, 1, 2], hasIntrinsics: true)
    let output = try sample.export(ExportMCAP.self, settings)
    let found = try Self.parsed(output).times
    #expect(found["/cam0/image_raw/compressed"] == [1000, 3000])
    #expect(found["/cam0/camera_info"] == [1000, 3000])
    for topic in ["/tf", "/pose", "/depth0/image_raw", "/depth0/camera_info"] {
      #expect(found[topic] == expected, "\(topic)")
    }
    if let reason { #expect(try Self.count(output, reason)) }
  }

  @Test("Without frames the samples are there; a single one and a pause are no trouble")
  func samplesAlone() throws {
    let alone = TimedSample(times: [], gyroscope: [10], accelerometer: [10], hasColor: false)
    let file = try Self.parsed(try alone.export(ExportMCAP.self))
    #expect(file.times == ["/tf_static": [10], "/imu0": [10]])
    // Between 10 ms and 10 s there is no acceleration to interpolate.
    let paused = TimedSample(
      times: [], gyroscope: [0, 5_000_000, 5_000_000_000, 10_000_000_000],
      accelerometer: [0, 10_000_000, 20_000_000, 30_000_000, 10_000_000_000], hasColor: false)
    let output = try paused.export(ExportMCAP.self)
    #expect(
      try Self.parsed(output).times["/imu0"] == [0, 5_000_000, 10_000_000_000])
    #expect(try output.text("export.json").contains("\"leftOut\" : 1"))
  }

  @Test("Nothing with a time is not applicable, with the reason")
  func nothing() throws {
    let sample = TimedSample(times: [nil, nil])
    #expect(throws: StageDoesNotApply.self) { try sample.export(ExportMCAP.self) }
    let parameters = ParameterValues(defaultsOf: ExportMCAP.parameters)
    let summary = CaptureSummary(sample.capture, readerVersion: 1)
    #expect(
      ExportMCAP.applicability(parameters, summary)
        == .notApplicable("nothing with a time: no picture has a time, no gyroscope"))
  }

  @Test("The map is z up, the IMU is oriented as in phones, whatever the turn of the pictures")
  func staticTransforms() throws {
    var sample = Self.everything
    #expect(try Self.staticRotations(sample) == [[0.5, 0.5, 0.5, 0.5], [1, -1, 0, 0]])
    sample.poses = []
    sample.quarterTurns = 1
    // diag(1, -1, -1): half a turn about x.
    #expect(try Self.staticRotations(sample) == [[1, 0, 0, 0]])
  }

  /// Quaternions of /tf_static, the second one's in units of √½ where it has any.
  private static func staticRotations(_ sample: TimedSample) throws -> [[Double]] {
    let file = try parsed(try sample.export(ExportMCAP.self))
    let topics = file.topics
    let message = try #require(file.messages.first { topics[$0.channel] == "/tf_static" })
    var reader = CDRReader(message.data)
    return (0..<reader.integer()).map { _ in
      _ = (reader.integer(), reader.integer(), reader.text(), reader.text())
      let numbers = (0..<7).map { _ in reader.number() }
      return numbers[3...].map { (value: Double) -> Double in
        let units: Double = value / 0.5.squareRoot()
        return abs(units.magnitude - 1) < 1e-12 ? units.rounded() : value
      }
    }
  }

  @Test("Positions are written only on request")
  func personal() throws {
    var sample = TimedSample()
    sample.positions = [2000, 1000, 5000].map {
      GeoPosition(
        timestamp: Timestamp(nanoseconds: $0), latitude: 50, longitude: 8, accuracy: 3)
    }
    #expect(try Self.parsed(try sample.export(ExportMCAP.self)).times["/fix"] == nil)
    let file = try Self.parsed(try sample.export(ExportMCAP.self, ["personal": "true"]))
    #expect(file.times["/fix"] == [2000, 5000])
  }

  @Test("The time offset is added to pictures and depth, not to samples")
  func timeOffset() throws {
    let output = try Self.everything.export(ExportMCAP.self, ["timeOffset": "2ms"])
    let times = try Self.parsed(output).times
    #expect(times["/cam0/image_raw/compressed"]?.first == 1_002_000_000)
    #expect(times["/depth0/image_raw"]?.first == 1_002_000_000)
    #expect(times["/imu0"]?.first == 990_000_000)
  }

  @Test("metadata.yaml says what is in the bag")
  func metadata() throws {
    let output = try TimedSample().export(ExportMCAP.self)
    #expect(
      try output.text("bag/metadata.yaml") == """
        rosbag2_bagfile_information:
          version: 5
          storage_identifier: mcap
          duration:
            nanoseconds: 2000
          starting_time:
            nanoseconds_since_epoch: 1000
          message_count: 3
          topics_with_message_count:
          - topic_metadata:
              name: /cam0/image_raw/compressed
              type: sensor_msgs/msg/CompressedImage
              serialization_format: cdr
              offered_qos_profiles: ''
            message_count: 3
          compression_format: ''
          compression_mode: ''
          relative_file_paths:
          - bag.mcap
          files:
          - path: bag.mcap
            starting_time:
              nanoseconds_since_epoch: 1000
            duration:
              nanoseconds: 2000
            message_count: 3

        """)
  }
}

@Suite("Streams merged by time")
struct BagTimelineTests {
  private static func entries(
    _ times: [Int64], _ event: (Int) -> BagTimeline.Event
  ) -> [BagTimeline.Entry] {
    times.enumerated().map {
      BagTimeline.Entry(time: Timestamp(nanoseconds: $0.element), event: event($0.offset))
    }
  }

  @Test("Batches hold so many pictures and no more, and together are everything in order")
  func batches() {
    var timeline = BagTimeline(
      poses: Self.entries([1, 2, 3, 4]) { .pose(frame: $0) },
      colors: Self.entries([1, 2, 3, 4]) { .color(frame: $0) },
      depths: Self.entries([1, 3]) { .depth(frame: $0) },
      fixes: Self.entries([0, 9]) { .fix($0) })
    var all: [BagTimeline.Entry] = []
    while true {
      let batch = timeline.batch(pictures: 2)
      if batch.isEmpty { break }
      #expect(batch.count(where: \.event.hasPicture) <= 2)
      all += batch
    }
    #expect(all.map(\.time.nanoseconds) == [0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 9])
    #expect(all[1].event == .pose(frame: 0) && all[3].event == .depth(frame: 0))
  }
}

/// A capture made of tables, with pictures that hold no picture: for exports that take files as they are.
struct TimedSample {
  /// Nanoseconds of the frames; `nil` = unknown.
  var times: [Int64?] = [1000, 2000, 3000]
  var depthTimes: [Int64?] = []
  /// Frames without a picture, pose, depth.
  var noPicture: Set<Int> = []
  var poses: Set<Int> = []
  var depths: Set<Int> = []
  var hasIntrinsics = false
  /// Nanoseconds of gyroscope and accelerometer.
  var gyroscope: [Int64] = []
  var accelerometer: [Int64] = []
  var convention = IMUConvention.android
  var quarterTurns = 0
  var hasColor = true
  var positions: [GeoPosition] = []

  static let (width, height) = (4, 2)

  static func pose(_ frame: Int) -> Pose {
    Pose(
      position: [Double(frame), 0.5, -2],
      orientation: Quaternion(x: 0.1, y: -0.2, z: 0.3, w: 0.9))
  }

  /// The file of a frame's picture: no PNG, so that nothing that decodes it can be right.
  static func file(_ frame: Int) -> [UInt8] { [0x89, 0x50, UInt8(truncatingIfNeeded: frame)] }

  static func depth(_ frame: Int) -> DepthImage {
    DepthImage(
      width: width, height: height,
      millimeters: (0..<width * height).map { (pixel: Int) -> UInt16 in
        UInt16(1000 * frame + pixel)
      })
  }

  var capture: Capture {
    var capture = Capture.made("sample")
    capture.frames = times.indices.map { frame in
      CaptureFrame(
        timestamp: times[frame].map { Timestamp(nanoseconds: $0) },
        depthTimestamp: depthTimes.indices.contains(frame)
          ? depthTimes[frame].map { Timestamp(nanoseconds: $0) } : nil)
    }
    if hasColor {
      capture.color = .stills(Self.width, Self.height, frames: times.count, turns: quarterTurns)
    }
    if !poses.isEmpty {
      capture.poses = .poses(Dictionary(uniqueKeysWithValues: poses.map { ($0, Self.pose($0)) }))
    }
    if hasIntrinsics {
      capture.intrinsics = .present(
        times.indices.map {
          IntrinsicsRow(
            frame: $0, width: Self.width, height: Self.height, fx: 3, fy: 3, cx: 1.5, cy: 0.5)
        })
    }
    if !gyroscope.isEmpty || !accelerometer.isEmpty { capture.imu = .present(imu) }
    if !positions.isEmpty {
      capture.geo = .present(
        GeoStream(
          description: .untold,
          track: GeoTrack(positions: positions), coverage: .everyFrame))
    }
    return capture
  }

  private var imu: IMUStream {
    func samples(_ times: [Int64], _ sensor: Int, _ z: Double) -> [IMUSample] {
      times.map {
        IMUSample(timestamp: Timestamp(nanoseconds: $0), sensor: sensor, x: 0, y: 0.5, z: z)
      }
    }
    return IMUStream.sorting(
      samples(gyroscope, 0, 0.25) + samples(accelerometer, 1, 9.8),
      sensorNames: ["gyroscope", "accelerometer"],
      description: .untold, convention: convention
    ).stream
  }

  /// Runs an export on it.
  func export(
    _ kind: any Stage.Type, _ settings: [String: String] = [:], cores: Int = 2
  ) throws -> StageBench.Output {
    let bench = try StageBench(capture)
    var inputs: [String: InputArtifact] = [:]
    if hasColor {
      inputs["color"] = try bench.files(
        times.indices.map { noPicture.contains($0) ? nil : Self.file($0) }, as: "color")
    }
    if !depths.isEmpty {
      inputs["aligned"] = try bench.depthPictures(
        (0...(depths.max() ?? 0)).map { depths.contains($0) ? Self.depth($0) : nil })
    }
    return try bench.run(kind, settings, inputs: inputs, cores: cores)
  }
}

extension StageBench.Output {
  /// The bytes of a file of the artifact.
  func bytes(_ name: String) throws -> [UInt8] {
    let folder = try HeldFolder.following(file(name).removingLastComponent())
    return try folder.contents(of: file(name).lastComponent?.string ?? "") ?? []
  }
}
