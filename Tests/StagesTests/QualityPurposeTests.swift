@testable import Captures
@testable import Core
@testable import Engine
@testable import Processing
import StageSupport
@testable import Stages
import SystemPackage
import TestSupport
import Testing

@Suite("The verdict for a purpose")
struct QualityPurposeTests {
  private typealias Subject = QualityVerdict.Subject

  private static func thresholds(
    _ purpose: String = QualityPurpose.standard
  ) throws -> QualityVerdict.Thresholds { try QualityPurpose(purpose).thresholds }

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
    let found = CaptureFigures.figures(of: small.capture, slam.limits)
    let values: [Subject: Double] = [.sensorInterval: 10, .sensorGap: 60, .exposure: 7.8125]
    #expect(found.values == values)
    #expect(found.lacks[.timeOffset] == "the time offset is not determined")
    let reconstruction = try Self.thresholds("reconstruction")
    let poses = CaptureFigures.figures(of: small.capture, reconstruction.limits)
    #expect(poses.values.count == 1 && poses.values[.posesMissing] == 0.25)
    small.capture.imu = .absent("none")
    let without = CaptureFigures.figures(of: small.capture, slam.limits)
    #expect(without.lacks[.sensorInterval] != nil)
    let usual = try Self.thresholds()
    #expect(CaptureFigures.figures(of: small.capture, usual.limits).values.isEmpty)
  }

  @Test("A reason names value and limit")
  func words() throws {
    var figures = QualityVerdict.Figures()
    figures.values = [.sensorInterval: 33.3, .exposure: 20]
    let slam = try Self.thresholds("slam")
    let verdict = try #require(QualityVerdict(of: [FrameQuality()], slam, figures))
    #expect(
      verdict.reasons.map { QualityText.reason($0, slam) } == [
        "the gyroscope has a sample every 33.3 ms (limit 21 ms)"
      ])
  }
}
