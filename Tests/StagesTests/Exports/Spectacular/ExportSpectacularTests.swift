@testable import Captures
@testable import Media
@testable import Core
@testable import Engine
import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Stages

@Suite("export-spectacular")
struct ExportSpectacularTests {
  /// A capture whose color is a video of numbered pictures.
  private struct VideoSample {
    let folder: TemporaryFolder
    var capture: Capture
    let bench: StageBench
    let color: InputArtifact

    init(
      _ tables: TimedSample, bFrames: Int = 2, container: VideoEncoderSettings.Container = .mov,
      noPicture: Set<Int> = []
    ) throws {
      folder = try TemporaryFolder()
      let file = folder.path.appending("video")
      var settings = VideoEncoderSettings(width: 64, height: 48, container: container)
      settings.bFrames = bFrames
      settings.keyFrameInterval = 4
      let encoder = try VideoEncoder(file, settings)
      let pictures = tables.times.indices.map(Self.picture)
      for (number, picture) in pictures.enumerated() {
        try encoder.append(picture, ticks: Int64(20 * number))
      }
      try encoder.finish()
      let track = try #require(try VideoIndex.read(file).tracks.first)
      capture = tables.capture
      capture.color = .present(
        ColorStream(
          source: .video(file, track: track.number),
          description: StreamDescription(
            file: "video", encoding: track.encoding, width: 64, height: 48,
            frames: pictures.count),
          clockwiseQuarterTurns: tables.quarterTurns, order: track.order))
      bench = try StageBench(capture)
      color = try bench.color(
        pictures.enumerated().map { noPicture.contains($0.offset) ? nil : $0.element })
    }

    func run(_ settings: [String: String] = [:], cores: Int = 2) throws -> StageBench.Output {
      try bench.run(ExportSpectacular.self, settings, inputs: ["color": color], cores: cores)
    }

    static func picture(_ number: Int) -> ColorImage {
      var picture = ColorImage(width: 64, height: 48)
      let value = UInt8(20 + 12 * number)
      for index in picture.rgb.indices { picture.rgb[index] = value }
      return picture
    }

    /// Numbers of the pictures of a video, by their brightness.
    static func numbers(_ file: FilePath) throws -> [Int] {
      let decoder = try VideoDecoder(file)
      var converter = ColorConverter()
      var numbers: [Int] = []
      var rgb: [UInt8] = []
      while let picture = try decoder.next() {
        try converter.convert(picture, into: &rgb)
        let value = Double(rgb[rgb.count / 2])
        numbers.append(Int(((value - 20) / 12).rounded()))
      }
      return numbers
    }
  }

  private static let tables = TimedSample(
    times: (0..<8).map { (frame: Int64) -> Int64? in 1_000_000_000 + 33_333_333 * frame },
    poses: [0, 3],
    gyroscope: [999_999_999, 1_000_000_000, 1_066_666_666],
    accelerometer: [1_000_000_000, 1_100_000_000])

  @Test("Lines are in the order of time, sensors first, times in integers from 0")
  func lines() throws {
    let output = try VideoSample(Self.tables).run()
    let lines = try output.text("data.jsonl").lines.map(String.init)
    #expect(
      Array(lines[..<5]) == [
        #"{"sensor":{"type":"gyroscope","values":[0,0.5,0.25]},"time":0.000000000}"#,
        #"{"sensor":{"type":"gyroscope","values":[0,0.5,0.25]},"time":0.000000001}"#,
        #"{"sensor":{"type":"accelerometer","values":[0,0.5,9.8]},"time":0.000000001}"#,
        #"{"number":0,"time":0.000000001,"frames":[{"cameraInd":0,"time":0.000000001}]}"#,
        #"{"groundTruth":{"position":{"x":0,"y":0.5,"z":-2},"orientation":{"w":0.9233805168766386,"#
          + #""x":0.1025978352085154,"y":-0.2051956704170308,"z":0.3077935056255462}},"#
          + #""time":0.000000001}"#,
      ])
    #expect(lines.count == 5 + 8 + 2)
    #expect(lines[6].hasSuffix(#""time":0.066666667}"#), "\(lines[6])")
    let account = try output.text("export.json")
    #expect(account.contains("\"timeShift\" : 999999999"))
    #expect(account.contains("\"samples\" : 5"))
    #expect(try output.text("README.txt").contains("999999999 nanoseconds"))
    #expect(try output.text("vio_config.yaml") == "useStereo: false\n")
  }

  @Test("CoreMotion's acceleration is turned, Android's is not")
  func signs() throws {
    var tables = Self.tables
    tables.convention = .coremotion
    let text = try VideoSample(tables).run().text("data.jsonl")
    #expect(text.contains(#""accelerometer","values":[0,-0.5,-9.8]"#))
  }

  @Test(
    "All pictures: the coded ones, in display order",
    arguments: [
      (0, VideoEncoderSettings.Container.mp4), (2, .mov), (2, .annexB),
    ])
  func coded(bFrames: Int, container: VideoEncoderSettings.Container) throws {
    let sample = try VideoSample(Self.tables, bFrames: bFrames, container: container)
    let output = try sample.run()
    #expect(output.names.contains("data.mp4"))
    #expect(try VideoSample.numbers(output.file("data.mp4")) == Array(0..<8))
  }

  @Test("Not all, or turned: without loss, the exported ones")
  func lossless() throws {
    let sample = try VideoSample(Self.tables)
    let every = try sample.run(["every": "3"])
    #expect(every.names.contains("data.mkv") && !every.names.contains("data.mp4"))
    #expect(try VideoSample.numbers(every.file("data.mkv")) == [0, 3, 6])
    let hole = try VideoSample(Self.tables, noPicture: [2]).run()
    #expect(try VideoSample.numbers(hole.file("data.mkv")) == [0, 1, 3, 4, 5, 6, 7])
    #expect(try hole.text("frames.csv").contains("3,1099999999,2\n"))
    var turned = Self.tables
    turned.quarterTurns = 1
    turned.poses = []
    let upright = try VideoSample(turned).run()
    #expect(try VideoSample.numbers(upright.file("data.mkv")) == Array(0..<8))
    #expect(
      try upright.text("calibration.json").contains(
        "[[1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0]"))
  }

  @Test("calibration.json has what is known, and nothing else")
  func calibration() throws {
    #expect(
      try VideoSample(Self.tables).run().text("calibration.json") == """
        {
          "cameras": [{
              "imageWidth": 64,
              "imageHeight": 48,
              "model": "pinhole",
              "imuToCamera": [[0.0, -1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], \
        [0.0, 0.0, 0.0, 1.0]]
            }]
        }

        """)
    let known = ExportSpectacular.calibration(
      PinholeCamera(width: 4, height: 2, fx: 3, fy: 3.5, cx: 1.5, cy: 0.5),
      LensDistortion(openCVOrder: [0.5, 0, 0, 0, 0, 0, 0, 0.25]),
      PictureSize(width: 4, height: 2), .identity)
    let text = String(decoding: known, as: UTF8.self)
    #expect(text.contains("\"focalLengthY\": 3.5,"))
    #expect(text.contains("\"model\": \"brown-conrady\""))
    #expect(
      text.contains("\"distortionCoefficients\": [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25]"))
  }

  @Test(
    "Times of the video rise, however odd those of the capture are",
    arguments: [
      ([0, 1, 2], 1, [0, 1, 2]),
      ([0, 33_333_333, 66_666_666], 1, [0, 33_333, 66_667]),
      ([5, 400_005, 900_005], 1000, [0, 1000, 2000]),
      (
        [0, 4_000_000_000_000_000_000, 4_000_000_000_000_033_000], 1,
        [0, 1_000_000_000, 1_000_000_033]
      ),
      ([.min, .max], 1, [0, 1_000_000_000]),
    ] as [([Int64], Int64, [Int64])])
  func videoTimes(times: [Int64], leastStep: Int64, expected: [Int64]) {
    #expect(
      ExportSpectacular.microseconds(
        times.map { Timestamp(nanoseconds: $0) }, leastStep: leastStep) == expected)
  }

  @Test("One frame, and one sample of each sensor, are enough; no gyroscope is a reason")
  func least() throws {
    var tables = TimedSample(times: [7], gyroscope: [9], accelerometer: [8])
    let output = try VideoSample(tables, bFrames: 0).run()
    #expect(
      try output.text("data.jsonl") == """
        {"number":0,"time":0.000000000,"frames":[{"cameraInd":0,"time":0.000000000}]}
        {"sensor":{"type":"accelerometer","values":[0,0.5,9.8]},"time":0.000000001}
        {"sensor":{"type":"gyroscope","values":[0,0.5,0.25]},"time":0.000000002}

        """)
    tables.gyroscope = []
    let parameters = ParameterValues(defaultsOf: ExportSpectacular.parameters)
    let summary = CaptureSummary(tables.capture, readerVersion: 1)
    #expect(
      ExportSpectacular.applicability(parameters, summary) == .notApplicable("no gyroscope"))
  }
}
