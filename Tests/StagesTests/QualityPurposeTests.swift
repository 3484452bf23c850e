import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Processing
@testable import Stages

@Suite("The verdict for a purpose")
struct QualityPurposeTests {
  private typealias Subject = QualityVerdict.Subject

  private static func thresholds(
    _ purpose: String = QualityPurpose.standard
  ) throws -> QualityVerdict.Thresholds { try QualityPurpose(purpose).thresholds }

  @Test(
    "The usual step of a stream is that of its rate, and 1 where its items are far apart or without times",
    arguments: [
      ([0, 1, 2, 3], 30, 1), ([0, 2, 4, 6, 9], 30, 2), ([1, 4, 7, 8], 30, 3),
      ([0, 1, 3, 5, 6], 30, 1),
      ([0, 2, 4], 300, 1), ([0, 2, 4], nil, 1), ([3], 30, 1), ([], 30, 1),
    ] as [([Int], Int64?, Int)])
  func usualStep(items: [Int], milliseconds: Int64?, step: Int) {
    let frames = (0..<10).map { (frame: Int64) in
      CaptureFrame(
        timestamp: milliseconds.map { Timestamp(nanoseconds: frame * $0 * 1_000_000) })
    }
    #expect(frames.usualStep(of: items) == step)
  }

  @Test("Shipped purposes judge what they are for, and nothing else")
  func shipped() throws {
    let judged: [String: [Subject]] = [
      "default": [
        .blurred, .clipped, .duplicates, .depthMissing, .depthDisagreement, .rotationDisagreement,
      ],
      "slam": [.blurred, .sensorInterval, .sensorGap, .timeOffset, .exposure],
      "reconstruction": [
        .blurred, .depthMissing, .depthDisagreement, .rotationDisagreement, .overlapMissing,
        .posesMissing,
      ],
      "training": [.blurred, .clipped, .duplicates, .depthMissing],
    ]
    #expect(Set(QualityPurpose.shipped.map(\.name)) == Set(judged.keys))
    for (name, subjects) in judged {
      let found = try Self.thresholds(name)
      #expect(Set(found.limits.keys) == Set(subjects), "\(name)")
    }
  }

  @Test("The default has the limits that it had, and a file of the same text the same")
  func standard() throws {
    let usual = try Self.thresholds()
    let limits: [Subject: QualityVerdict.Limits] = [
      .blurred: .init(usable: 0.2, poor: 0.5), .clipped: .init(usable: 0.2, poor: 0.5),
      .duplicates: .init(usable: 0.05, poor: 0.3), .depthMissing: .init(usable: 0.5, poor: 0.8),
      .depthDisagreement: .init(usable: 15, poor: 50),
      .rotationDisagreement: .init(usable: 0.3, poor: 1),
    ]
    #expect(usual.limits == limits)
    #expect(
      [usual.blurredBelow, usual.blurSigma, usual.softSigma, usual.blurPixels, usual.clippedAbove]
        == [0.5, 2.6, 1.8, 4, 0.4])
    let folder = try TemporaryFolder()
    let file = folder.path.appending("mine.yaml")
    try file.write(QualityPurpose.shipped[0].text)
    let same = try Self.thresholds(file.string)
    #expect(same.limits == usual.limits)
    #expect(same.softSigma == usual.softSigma && same.clippedAbove == usual.clippedAbove)
  }

  @Test("What a picture must be like is as usual where the file says nothing")
  func unsaid() throws {
    let (usual, slam) = (try Self.thresholds(), try Self.thresholds("slam"))
    #expect(slam.blurPixels == 3 && slam.blurSigma == usual.blurSigma)
    #expect(slam.limits[.blurred] == QualityVerdict.Limits(usable: 0.1, poor: 0.3))
  }

  @Test(
    "A file that cannot be meant is refused before anything runs, with its line",
    arguments: [
      ("# mine\nblurredUseable: 0.1\n", ":2: no such threshold 'blurredUseable'"),
      ("blurSigma: wide\n", ":1: blurSigma must be a number"),
      ("blurredUsable: 0.1\n", "blurredPoor"),
      ("blurredUsable: 0.3\nblurredPoor: 0.2\n", "not below"),
      ("exposurePoor: -1\n", ":1: exposurePoor must be a number"), ("[1, 2]\n", "has no threshold"),
      ("a: [\n", "no YAML"),
    ])
  func refused(text: String, words: String) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("mine.yaml")
    try file.write(text)
    var values = ParameterValues(defaultsOf: MeasureQuality.parameters)
    values["for"] = .text(file.string)
    let problems = MeasureQuality.fileProblems(values)
    #expect(problems.map(\.parameter) == ["for"])
    #expect(problems.first?.message.hasPrefix(file.string) == true)
    #expect(problems.first?.message.contains(words) == true, "\(problems)")
  }

  @Test("A name that is none is taken for a file, and the nearest name is told")
  func misspelled() {
    var values = ParameterValues(defaultsOf: MeasureQuality.parameters)
    values["for"] = .text("slamm")
    #expect(MeasureQuality.fileProblems(values).first?.message.contains("slam'") == true)
  }

  @Test("The figures of a capture are those of its gyroscope, its exposures and its poses")
  func figures() throws {
    var small = SmallCapture(times: [0, 20_000_000, 40_000_000, 60_000_000])
    small.addIMU([0, 10_000_000, 20_000_000, 30_000_000, 90_000_000])
    small.addCameras([0, 1, 3])
    let slam = try Self.thresholds("slam")
    let found = QualityVerdict.Figures(of: small.capture, slam.limits)
    let values: [Subject: Double] = [.sensorInterval: 10, .sensorGap: 60, .exposure: 7.8125]
    #expect(found.values == values)
    #expect(found.lacks[.timeOffset] == "the time offset is not determined")
    let reconstruction = try Self.thresholds("reconstruction")
    let poses = QualityVerdict.Figures(of: small.capture, reconstruction.limits)
    #expect(poses.values.count == 1 && poses.values[.posesMissing] == 0.25)
    small.capture.imu = .absent("none")
    let without = QualityVerdict.Figures(of: small.capture, slam.limits)
    #expect(without.lacks[.sensorInterval] != nil)
    let usual = try Self.thresholds()
    #expect(QualityVerdict.Figures(of: small.capture, usual.limits).values.isEmpty)
  }

  @Test("A reason names value and limit")
  func words() throws {
    var figures = QualityVerdict.Figures()
    figures.values = [.sensorInterval: 33.3, .exposure: 20]
    let slam = try Self.thresholds("slam")
    let verdict = try #require(QualityVerdict(of: [FrameQuality()], slam, figures))
    #expect(
      verdict.reasons.map { $0.words(slam) } == [
        "the gyroscope has a sample every 33.3 ms (limit 21 ms)"
      ])
  }
}

@Suite("Blur by motion")
struct MotionQualityTests {
  /// A frame at 0.5 s of which the picture was taken at 0.6 s, while the device turns faster and faster.
  private static func blur(colorTime: Bool, exposure: Double) -> Double? {
    var capture = Capture(
      id: "a", family: .scannet, generation: "v1", folder: "/a",
      clock: CaptureClock(.uptime, unit: "ns"))
    capture.frames = [
      CaptureFrame(
        timestamp: Timestamp(nanoseconds: 500_000_000),
        colorTimestamp: colorTime ? Timestamp(nanoseconds: 600_000_000) : nil,
        depthTimestamp: Timestamp(nanoseconds: 500_000_000))
    ]
    capture.intrinsics = .present([
      IntrinsicsRow(frame: 0, width: 640, height: 480, fx: 500, fy: 500, cx: 320, cy: 240)
    ])
    capture.cameraSettings = .present(
      CameraSettingsStream(
        description: StreamDescription(file: "s", encoding: "", frames: 1),
        rows: [CameraSettingsRow(frame: 0, exposureSeconds: exposure)]))
    let samples = (0...100).map {
      IMUSample(
        timestamp: Timestamp(nanoseconds: Int64($0) * 10_000_000), sensor: 0, x: 0,
        y: Double($0) / 100, z: 0)
    }
    capture.imu = .present(
      IMUStream.sorting(
        samples, sensorNames: ["gyroscope"],
        description: StreamDescription(file: "i", encoding: "", frames: 101),
        convention: .coremotion
      ).stream)
    var frames = [FrameQuality()]
    MotionQuality(capture).measure(&frames)
    return frames[0].blurPixels
  }

  @Test("It is that of the time of the picture, where that is known, and of the frame's else")
  func time() throws {
    // 0.6 and 0.5 rad/s, 500 pixels per radian.
    #expect(abs(try #require(Self.blur(colorTime: true, exposure: 0.02)) - 6) < 1e-9)
    #expect(abs(try #require(Self.blur(colorTime: false, exposure: 0.02)) - 5) < 1e-9)
  }

  @Test("No exposure smears nothing, and one that cannot be is not believed")
  func exposure() {
    #expect(Self.blur(colorTime: true, exposure: 0) == 0)
    for exposure in [-1, .nan, .infinity, 1e300] {
      #expect(Self.blur(colorTime: true, exposure: exposure) == nil)
    }
  }
}
