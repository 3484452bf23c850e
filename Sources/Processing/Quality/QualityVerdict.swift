import Core

/// Whether a capture is worth working with, and why: the worst of what can be told of its frames.
public struct QualityVerdict: Hashable, Sendable {
  public enum Level: String, Comparable, CaseIterable, Sendable {
    /// `unjudged`: everything that was judged is good, but something that was recorded could not be judged.
    case good, unjudged, usable, poor

    public static func < (a: Level, b: Level) -> Bool {
      Self.order(a) < Self.order(b)
    }

    private static func order(_ level: Level) -> Int { allCases.firstIndex(of: level) ?? 0 }
  }

  /// What is judged. Raw values are names in records.
  public enum Subject: String, CaseIterable, Sendable {
    /// Share of pictures that are blurred.
    case blurred
    /// Share of pictures too dark or too bright to see much.
    case clipped
    /// Share of pictures that show again what an earlier one shows.
    case duplicates
    /// Share of pixels without depth, in the middle one of all frames.
    case depthMissing
    /// Difference of depth between neighboring frames in permille of it, in the middle one of all frames.
    case depthDisagreement
    /// Degrees between poses and gyroscope from frame to frame, in the middle one of all frames.
    case rotationDisagreement
    // Without limits unless a purpose has some.
    /// Milliseconds from sample to sample of the gyroscope, in the middle.
    case sensorInterval
    /// Milliseconds of the longest time without a sample of the gyroscope.
    case sensorGap
    /// Milliseconds by which the clocks of IMU and pictures differ.
    case timeOffset
    /// Milliseconds that a picture was exposed, in the middle one of all frames.
    case exposure
    /// Share of pairs of neighboring frames that do not see the same surfaces.
    case overlapMissing
    /// Share of frames without a pose.
    case posesMissing
  }

  /// Above `usable` a capture is only usable, above `poor` poor.
  public struct Limits: Hashable, Sendable {
    public var usable: Double
    public var poor: Double

    public init(usable: Double, poor: Double) {
      self.usable = usable
      self.poor = poor
    }
  }

  public struct Thresholds: Sendable {
    /// A picture is blurred below this part of the sharpness around it…
    public var blurredBelow = 0.5
    /// … or if its `BlurWidth` is above this, whatever is around it…
    public var blurSigma = 2.6
    /// (it is soft above this)
    public var softSigma = 1.8
    /// … or when the camera turned by more pixels than this while it was exposed.
    public var blurPixels = 4.0
    /// A picture is clipped when more of it than this is black or white.
    public var clippedAbove = 0.4
    public var limits: [Subject: Limits]

    public init(limits: [Subject: Limits]) { self.limits = limits }
  }

  public struct Finding: Hashable, Sendable {
    public var subject: Subject
    /// In the unit of the subject; `nil` if `level` is `unjudged`.
    public var value: Double?
    public var level: Level
    /// Why it is `unjudged`.
    public var lack: Lack?

    init(_ subject: Subject, _ value: Double, _ limits: Limits) {
      self.subject = subject
      self.value = value
      level = value > limits.poor ? .poor : value > limits.usable ? .usable : .good
    }

    init(_ subject: Subject, _ lack: Lack) {
      self.subject = subject
      level = .unjudged
      self.lack = lack
    }
  }

  /// Why something that was recorded could not be judged.
  public enum Lack: Hashable, Sendable {
    /// So many pictures show too little, or have too much noise, to tell how sharp they are.
    case sharpness(flat: Int, noisy: Int, of: Int)
    /// None of so many pairs of frames sees the same surfaces once they are placed by their poses.
    case overlap(pairs: Int)
    /// Something else, in words.
    case other(String)
  }

  /// What is known of a capture beside its frames; what is absent is not judged.
  public struct Figures: Sendable {
    public var values: [Subject: Double] = [:]
    public var lacks: [Subject: String] = [:]

    public init() {}
  }

  public var level: Level
  /// Everything that was judged, in the order of `Subject`.
  public var findings: [Finding]

  /// What brought the capture to its level, and what could not be judged; empty if it is good.
  public var reasons: [Finding] {
    level == .good ? [] : findings.filter { $0.level == level || $0.level == .unjudged }
  }

  /// `nil` if nothing of any frame can be judged.
  public init?(
    of frames: [FrameQuality], _ thresholds: Thresholds, _ figures: Figures = Figures()
  ) {
    let pictures = frames.filter { $0.picture != nil }
    func share(_ isMeant: (FrameQuality) -> Bool) -> Double? {
      pictures.isEmpty ? nil : Double(pictures.count(where: isMeant)) / Double(pictures.count)
    }
    func middle(_ value: (FrameQuality) -> Double?) -> Double? {
      Median.upper(frames.compactMap(value))
    }
    findings = Subject.allCases.compactMap { subject in
      guard let limits = thresholds.limits[subject] else { return nil }
      let value: Double? =
        switch subject {
        case .blurred: nil
        case .clipped:
          share {
            ($0.picture?.darkShare ?? 0) + ($0.picture?.brightShare ?? 0) > thresholds.clippedAbove
          }
        case .duplicates: share { $0.duplicateOf != nil }
        case .depthMissing: middle { $0.depthShare.map { 1 - $0 } }
        case .depthDisagreement: middle { $0.agreement?.medianPermille }
        case .rotationDisagreement: middle(\.rotationDifferenceDegrees)
        case .overlapMissing: Self.overlapMissing(frames)
        case .sensorInterval, .sensorGap, .timeOffset, .exposure, .posesMissing:
          figures.values[subject]
        }
      if let value { return Finding(subject, value, limits) }
      switch subject {
      case .blurred:
        return Self.blurred(pictures.compactMap { $0.sharpnessLevel(thresholds) }, limits)
      case .depthDisagreement:
        let pairs = frames.count(where: \.comparesDepth)
        return pairs == 0 ? nil : Finding(subject, .overlap(pairs: pairs))
      default: return figures.lacks[subject].map { Finding(subject, .other($0)) }
      }
    }
    guard let worst = findings.map(\.level).max() else { return nil }
    level = worst
  }

  /// The share of the pairs whose depth could be compared that had nothing in common.
  private static func overlapMissing(_ frames: [FrameQuality]) -> Double? {
    let pairs = frames.filter(\.comparesDepth)
    return pairs.isEmpty
      ? nil : Double(pairs.count { $0.agreement == nil }) / Double(pairs.count)
  }

  /// The share of blurred pictures among those of which it can be told. If it cannot of more than half, only blurred
  /// ones that are too many of all count.
  private static func blurred(_ levels: [SharpnessLevel], _ limits: Limits) -> Finding? {
    guard !levels.isEmpty else { return nil }
    let blurred = Double(levels.count { $0 == .blurred })
    let (flat, noisy) = (levels.count { $0 == .flat }, levels.count { $0 == .noise })
    let told = levels.count - flat - noisy
    if 2 * told >= levels.count { return Finding(.blurred, blurred / Double(told), limits) }
    let least = Finding(.blurred, blurred / Double(levels.count), limits)
    return least.level == .good
      ? Finding(.blurred, .sharpness(flat: flat, noisy: noisy, of: levels.count)) : least
  }
}

/// How sharp a picture is, as the verdict counts it. Raw values are words in tables.
public enum SharpnessLevel: String, CaseIterable, Sendable {
  case sharp, soft, blurred
  /// The width cannot be told, since the picture shows too little, or has too much noise.
  case flat, noise
}

extension FrameQuality {
  /// `nil` without a picture.
  public func sharpnessLevel(_ thresholds: QualityVerdict.Thresholds) -> SharpnessLevel? {
    guard let picture else { return nil }
    if hasDetailAround && relativeSharpness ?? 1 < thresholds.blurredBelow
      || blurPixels ?? 0 > thresholds.blurPixels
    {
      return .blurred
    }
    switch picture.blurWidth {
    case .pixels(let width):
      return width > thresholds.blurSigma ? .blurred : width > thresholds.softSigma ? .soft : .sharp
    case .unknown(.flat): return .flat
    case .unknown(.noise): return .noise
    }
  }
}

extension QualityVerdict.Subject {
  /// Meaning of the subject's number.
  public var meaning: String {
    switch self {
    case .blurred: "the part of the pictures that are blurred"
    case .clipped: "the part of the pictures that are clipped"
    case .duplicates: "the part of the pictures that repeat an earlier one"
    case .depthMissing: "the part of the pixels without depth, median of the frames"
    case .depthDisagreement:
      "by how many thousandths depth differs from that of the frame before, median of the frames"
    case .rotationDisagreement:
      "by how many degrees poses and gyroscope differ from frame to frame, median of the frames"
    case .sensorInterval: "the milliseconds from sample to sample of the gyroscope, median"
    case .sensorGap: "the longest time without a sample of the gyroscope in milliseconds"
    case .timeOffset: "the milliseconds by which the clocks of IMU and pictures differ"
    case .exposure: "the milliseconds of exposure, median of the frames"
    case .overlapMissing: "the part of neighboring frames that do not see the same surfaces"
    case .posesMissing: "the part of the frames without a pose"
    }
  }

  /// The number with its unit, at most two decimals: `23 %`, `4.1 ‰`, `0.2°`.
  public func text(_ value: Double) -> String {
    switch self {
    case .blurred, .clipped, .duplicates, .depthMissing, .overlapMissing, .posesMissing:
      Self.number(value * 100) + " %"
    case .depthDisagreement: Self.number(value) + " ‰"
    case .rotationDisagreement: Self.number(value) + "°"
    case .sensorInterval, .sensorGap, .timeOffset, .exposure: Self.number(value) + " ms"
    }
  }

  private static func number(_ value: Double) -> String {
    let rounded = (value * 100).rounded() / 100
    return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int64(rounded))" : "\(rounded)"
  }
}

/// What is known of the quality of one frame; `nil` where it cannot be known.
public struct FrameQuality: Hashable, Sendable {
  public var picture: PictureMeasure?
  /// Sharpness divided by the median of the frames around it.
  public var relativeSharpness: Double?
  /// Whether most of the pictures that it was compared with show something.
  var hasDetailAround = false
  /// By how many pixels the turning camera smeared the picture while it was exposed.
  public var blurPixels: Double?
  /// Share of depth pixels that are measured, 0…1.
  public var depthShare: Double?
  /// Median of the stored confidence values.
  public var confidence: Int?
  /// Whether depth, poses and cameras are there to compare it with the frame before.
  public var comparesDepth = false
  /// Depth compared with that of the frame before it; `nil` also where the two do not see the same.
  public var agreement: DepthAgreement.Result?
  /// How far the camera turned since the frame before, by the poses: degrees.
  public var poseDegrees: Double?
  /// How far the camera turned since the frame before, by the gyroscope: degrees.
  public var gyroscopeDegrees: Double?
  /// The earlier frame that shows the same picture.
  public var duplicateOf: Int?

  public init() {}

  /// By how much poses and gyroscope disagree about the rotation since the frame before: degrees.
  var rotationDifferenceDegrees: Double? {
    guard let poseDegrees, let gyroscopeDegrees else { return nil }
    return abs(poseDegrees - gyroscopeDegrees)
  }
}
