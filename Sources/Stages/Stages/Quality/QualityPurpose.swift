import Core
import Engine
import Processing
import SystemPackage
import Yams

/// The thresholds of a verdict for a purpose: a YAML file of names and numbers, shipped or of the user.
///
/// Only subjects with limits in it are judged. What a picture must be like to count as blurred or clipped is as usual
/// where it says nothing.
package struct QualityPurpose: Sendable {
  package static let standard = "default"

  /// By name.
  package static let shipped: [(name: String, text: String)] = [
    (standard, usual), ("slam", slam), ("reconstruction", reconstruction),
    ("training", training),
  ]

  /// What a picture must be like to count as blurred, soft or clipped, by key.
  private static let ofPictures:
    KeyValuePairs<String, any WritableKeyPath<QualityVerdict.Thresholds, Double> & Sendable> = [
      "blurredBelow": \.blurredBelow, "blurSigma": \.blurSigma, "softSigma": \.softSigma,
      "blurPixels": \.blurPixels, "clippedAbove": \.clippedAbove,
    ]

  /// What a file may have.
  static let keys =
    ofPictures.map { $0.key }
    + QualityVerdict.Subject.allCases.flatMap { [$0.usableKey, $0.poorKey] }

  let thresholds: QualityVerdict.Thresholds

  /// Whether a text names a file rather than a shipped purpose.
  static func isFile(_ name: String) -> Bool { !shipped.contains { $0.name == name } }

  /// Throws for a file that cannot be read or has a key that is unknown, a value that is no number, or one of two
  /// limits, in words that name file and line.
  init(_ name: String) throws(StageFailure) {
    if let text = Self.shipped.first(where: { $0.name == name })?.text {
      try self.init(text: text, of: name)
      return
    }
    let bytes: [UInt8]
    do throws(FileError) {
      bytes = try InputFile(FilePath(text: name)).whole(limit: InputLimits.bytesOfSettings)
    } catch {
      throw Self.failure(
        "\(error.sentence)\(NearestName.suggestion(name, among: Self.shipped.map(\.name)))",
        of: name)
    }
    try self.init(text: String(decoding: bytes, as: UTF8.self), of: name)
  }

  private init(text: String, of name: String) throws(StageFailure) {
    if let problem = InputLimits.problem(inYAML: text) { throw Self.failure(problem, of: name) }
    let root: Node?
    do { root = try Yams.compose(yaml: text) } catch {
      throw Self.failure("is no YAML: \(error)", of: name)
    }
    let known = Self.keys
    var values: [String: Double] = [:]
    for (key, value) in root?.mapping ?? [:] {
      let word = key.string ?? ""
      guard known.contains(word) else {
        throw Self.failure(
          "no such threshold '\(word)'\(NearestName.suggestion(word, among: known))", of: name, key)
      }
      guard let number = value.float ?? value.int.map(Double.init), (0...100_000).contains(number)
      else {
        throw Self.failure("\(word) must be a number, 0 to 100000", of: name, value)
      }
      values[word] = number
    }
    guard !values.isEmpty else {
      throw Self.failure("has no threshold; `scanmill list quality` shows some", of: name)
    }
    var limits: [QualityVerdict.Subject: QualityVerdict.Limits] = [:]
    for subject in QualityVerdict.Subject.allCases {
      let (usable, poor) = (values[subject.usableKey], values[subject.poorKey])
      guard (usable == nil) == (poor == nil), usable ?? 0 <= poor ?? 0 else {
        throw Self.failure(
          "needs \(subject.usableKey) and \(subject.poorKey), which is not below it", of: name)
      }
      if let usable, let poor {
        limits[subject] = QualityVerdict.Limits(usable: usable, poor: poor)
      }
    }
    var thresholds = QualityVerdict.Thresholds(limits: limits)
    for (key, path) in Self.ofPictures {
      let place: WritableKeyPath<QualityVerdict.Thresholds, Double> = path
      if let value = values[key] { thresholds[keyPath: place] = value }
    }
    self.thresholds = thresholds
  }

  /// Why a file of thresholds cannot be used.
  private static func failure(
    _ problem: String, of name: String, _ node: Node? = nil
  ) -> StageFailure {
    let line = node?.mark.map { ":\($0.line)" } ?? ""
    return StageFailure("\(name.onOneLine)\(line): \(problem.onOneLine)")
  }

  private static let usual = """
    # As captures are judged unless quality.for names something else (quality.for=default). Above a first limit the
    # verdict is usable, above a second poor.
    blurredBelow: 0.5  # blurred: below this part of the sharpness of the pictures around it,
    blurSigma: 2.6  # or a blur wider than this (sigma of a Gaussian, pixels of a picture of 1,920),
    blurPixels: 4  # or turned by more pixels than this while it was exposed
    softSigma: 1.8  # soft in the table: a blur wider than this; the verdict does not count it
    clippedAbove: 0.4  # clipped: more than this part is black or white
    blurredUsable: 0.2  # part of the pictures that are blurred
    blurredPoor: 0.5
    clippedUsable: 0.2  # part of the pictures that are clipped
    clippedPoor: 0.5
    duplicatesUsable: 0.05  # part of the pictures that repeat an earlier one
    duplicatesPoor: 0.3
    depthMissingUsable: 0.5  # part of the pixels without depth, median of the frames
    depthMissingPoor: 0.8
    depthDisagreementUsable: 15  # thousandths by which depth differs from that of the frame before, median
    depthDisagreementPoor: 50
    rotationDisagreementUsable: 0.3  # degrees between poses and gyroscope from frame to frame, median
    rotationDisagreementPoor: 1

    """
  private static let slam = """
    # Visual-inertial SLAM (quality.for=slam): motion sensors, clocks, exposure, blur.
    sensorIntervalUsable: 10.5  # ms: less than 95 samples per second
    sensorIntervalPoor: 21
    sensorGapUsable: 50  # ms
    sensorGapPoor: 200
    timeOffsetUsable: 5  # ms; imu.timeOffset=auto takes it out of exports
    timeOffsetPoor: 50
    exposureUsable: 15  # ms
    exposurePoor: 33
    blurPixels: 3
    blurredUsable: 0.1
    blurredPoor: 0.3

    """
  private static let reconstruction = """
    # Reconstruction (quality.for=reconstruction): blur, overlap, coverage, poses against depth.
    blurredUsable: 0.1
    blurredPoor: 0.3
    overlapMissingUsable: 0.02
    overlapMissingPoor: 0.2
    posesMissingUsable: 0.02
    posesMissingPoor: 0.2
    depthMissingUsable: 0.4
    depthMissingPoor: 0.7
    depthDisagreementUsable: 10
    depthDisagreementPoor: 30
    rotationDisagreementUsable: 0.3
    rotationDisagreementPoor: 1

    """
  private static let training = """
    # Training sets (quality.for=training): repeats, exposure, blur, share of depth.
    duplicatesUsable: 0.01
    duplicatesPoor: 0.1
    clippedAbove: 0.25
    clippedUsable: 0.1
    clippedPoor: 0.3
    blurSigma: 2
    blurredUsable: 0.1
    blurredPoor: 0.3
    depthMissingUsable: 0.3
    depthMissingPoor: 0.6

    """
}

extension QualityVerdict.Subject {
  /// The names of its two limits.
  var usableKey: String { rawValue + "Usable" }
  var poorKey: String { rawValue + "Poor" }
}
