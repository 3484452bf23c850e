import Core
import Media
import SystemPackage

/// `capture.json`, which `inspect --json` prints as well: the same structure for all families.
public struct CaptureDocument: Encodable, Sendable {
  private let capture: Capture
  private let warnings: [CaptureWarning]
  private let encodings: [String: String]
  private let measured: [String: any Encodable & Sendable]

  /// - Parameters:
  ///   - opening: warnings of opening that are told; `nil` for all.
  ///   - found: warnings found by decoding, in addition to those of opening.
  ///   - encodings: payload kinds found by decoding, by stream name.
  ///   - measured: what stages found out about the capture, by key.
  public init(
    _ capture: Capture, opening: [CaptureWarning]? = nil, found: [CaptureWarning] = [],
    encodings: [String: String] = [:],
    measured: [String: any Encodable & Sendable] = [:]
  ) {
    self.capture = capture
    warnings = (opening ?? capture.warnings).merged(with: found)
    self.encodings = encodings
    self.measured = measured
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: TextKey.self)
    try object.encode([
      "schema": 1,
      "id": PathText.shown(capture.id),
      "family": capture.family.rawValue,
      "generation": capture.generation,
      "path": capture.path.shown,
    ])
    try object.encode(
      ["id": capture.device.id, "name": capture.device.name, "model": capture.device.model],
      forKey: "device")
    try object.encode(
      [
        "label": capture.scene.label, "type": capture.scene.type,
        "description": capture.scene.description,
      ], forKey: "scene")
    try object.encodeIfPresent(capture.user, forKey: "user")
    try object.encodeIfPresent(capture.uploadedAt, forKey: "uploadedAt")
    try object.encodeIfPresent(capture.orientation, forKey: "orientation")
    try object.encode([
      "recordedAt": capture.recordedAt,
      "clock": capture.clock,
      "frames": capture.frames.count,
    ])
    try encodeStreams(into: &object)
    try object.encodeIfPresent(capture.poses.value?.world?.rawValue, forKey: "world")
    try object.encode([
      "alignment": capture.alignment.map(AlignmentDocument.init),
      "completeness": capture.completeness,
      "missing": capture.completeness.absentFiles,
      "warnings": warnings,
    ])
    let lacking = capture.claims.lacking
    if !lacking.isEmpty {
      try object.encode(lacking.map(LackDocument.init), forKey: "lacking")
    }
    try object.encode(Self.errors(of: capture), forKey: "errors")
    for (name, value) in measured.sorted(by: { $0.key < $1.key }) {
      try value.encode(to: object.superEncoder(forKey: TextKey(stringValue: name)))
    }
  }

  private func encodeStreams(into object: inout KeyedEncodingContainer<TextKey>) throws {
    var streams = object.nestedContainer(keyedBy: TextKey.self, forKey: "streams")
    // An unreadable stream is listed without counts.
    func described<Value>(
      _ state: StreamState<Value>, _ name: String, _ describe: (Value) -> StreamDescription
    ) -> StreamDocument? {
      if let error = state.error {
        return StreamDocument(unreadable: error.file.shownName)
      }
      return state.value.map { value in
        let description = describe(value)
        var document = StreamDocument(description: description)
        if let encoding = encodings[name] { document.description.encoding = encoding }
        return document
      }
    }
    var color = described(capture.color, "color") { $0.description }
    color?.clockwiseQuarterTurns = capture.color.value?.clockwiseQuarterTurns
    if capture.color.value?.isMirrored ?? false { color?.isMirrored = true }
    var imu = described(capture.imu, "imu") { $0.description }
    imu?.samples = capture.imu.value?.sampleCounts ?? [:]
    imu?.convention = capture.imu.value?.convention
    try streams.encode([
      "color": color,
      "depth": described(capture.depth, "depth") { $0.description },
      "confidence": described(capture.confidence, "confidence") { $0.description },
      "imu": imu,
      "poses": described(capture.poses, "poses") { $0.description },
      "cameraSettings": described(capture.cameraSettings, "cameraSettings") { $0.description },
      "geo": described(capture.geo, "geo") { $0.description },
    ])
  }

  private static func errors(of capture: Capture) -> [ErrorDocument] {
    capture.errors.map { ErrorDocument(stream: $0.stream, error: $0.error) }
  }
}

/// A stream that has less than the capture declares. The pipeline decides whether the loss is large
/// enough to be a shortfall.
private struct LackDocument: Encodable {
  private let claim: StreamClaim

  init(_ claim: StreamClaim) { self.claim = claim }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: TextKey.self)
    try object.encode([
      "stream": claim.stream,
      "held": claim.held,
      "declared": claim.declared,
      "unit": claim.unit,
      "declaredBy": claim.source,
      "lostPercent": (1000 * claim.lostShare).rounded() / 10,
    ])
  }
}

/// A stream that cannot be read.
private struct ErrorDocument: Encodable {
  var stream: String
  var error: CaptureError

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: TextKey.self)
    try object.encode([
      "stream": stream,
      "file": error.file.shown,
      "record": error.record,
      "byteOffset": error.byteOffset,
      "message": error.description,
    ])
  }
}

private struct StreamDocument: Encodable {
  var description: StreamDescription
  var clockwiseQuarterTurns: Int?
  var isMirrored: Bool?
  var samples: [String: Int]?
  var convention: IMUConvention?

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: TextKey.self)
    try object.encode([
      "file": description.file,
      "encoding": description.encoding.isEmpty ? nil : description.encoding,
      "width": description.width,
      "height": description.height,
      "frames": description.frames,
      "declaredFrames": description.declaredFrames,
      "firstTimestampNs": description.firstTimestamp?.nanoseconds,
      "lastTimestampNs": description.lastTimestamp?.nanoseconds,
      "rateHz": description.rateHz,
      "gaps": description.gaps,
    ])
    try object.encodeIfPresent(
      description.readoutSeconds.map { ($0 * 1e9).rounded() }.flatMap { Int64(exactly: $0) },
      forKey: "readoutNs")
    try object.encodeIfPresent(description.pairing, forKey: "pairing")
    if let color = description.color {
      try object.encode([
        "bitDepth": color.bitDepth,
        "transfer": color.transfer,
        "primaries": color.primaries,
        "matrix": color.matrix,
        "range": color.range,
        "assumedMatrix": color.assumedMatrix?.rawValue,
        "assumedRange": color.assumedRange?.rawValue,
      ])
      try object.encodeIfPresent(color.dolbyVision, forKey: "dolbyVisionIgnored")
      if let light = color.contentLight {
        try object.encodeIfPresent(light.brightestPixel, forKey: "brightestPixelCdPerM2")
        try object.encodeIfPresent(light.masteringPeak, forKey: "masteringPeakCdPerM2")
      }
    }
    try object.encodeIfPresent(clockwiseQuarterTurns, forKey: "clockwiseQuarterTurns")
    try object.encodeIfPresent(isMirrored, forKey: "mirrored")
    try object.encodeIfPresent(samples, forKey: "samples")
    try object.encodeIfPresent(convention, forKey: "convention")
  }
}

extension StreamDocument {
  init(unreadable file: String) {
    description = StreamDescription(file: file, encoding: "", frames: 0)
  }
}

/// The `alignment` object of `capture.json`, which is also the JSON form of a calibration file.
public struct AlignmentDocument: Encodable, Sendable {
  private let calibration: DepthCalibration

  public init(_ calibration: DepthCalibration) {
    self.calibration = calibration
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: TextKey.self)
    try object.encode([
      "schema": 1,
      "registered": calibration.registered,
      "colorFromDepth": calibration.colorFromDepth?.rowMajor,
      "depthIntrinsics": calibration.depthIntrinsics,
      "colorIntrinsics": calibration.colorIntrinsics,
    ])
    let lenses = ["depth": calibration.depthDistortion, "color": calibration.colorDistortion]
    if calibration.statesLens {
      try object.encode(lenses.mapValues(Self.coefficients), forKey: "distortion")
    } else {
      try object.encodeNil(forKey: "distortion")
    }
  }

  private static func coefficients(_ lens: LensDistortion) -> [String: Double] {
    let names = ["k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"]
    return Dictionary(uniqueKeysWithValues: zip(names, lens.openCVOrder))
  }
}

extension StreamDescription {
  /// A text about the color description of a video and what is assumed where tags are missing;
  /// `nil` for other streams.
  public var colorWords: String? {
    guard let color else { return nil }
    var parts: [String] = []
    if let depth = color.bitDepth { parts.append("\(depth) bits") }
    let tags = [
      ("transfer", color.transfer), ("primaries", color.primaries), ("matrix", color.matrix),
    ]
    if tags.allSatisfy({ $0.1 == nil }) {
      parts.append("transfer, primaries and matrix untagged")
    } else {
      for (name, tag) in tags { parts.append("\(name) \(tag ?? "untagged")") }
    }
    parts.append(
      color.range.map { $0 == "pc" ? "full range" : "limited range" } ?? "range untagged")
    if color.hasWidePrimaries, !color.isUnusualTransfer {
      parts.append("wider colors than an ordinary screen's")
    }
    if let light = color.contentLight {
      if let brightest = light.brightestPixel {
        parts.append("brightest pixel \(Self.luminance(brightest))")
      }
      if let peak = light.masteringPeak {
        parts.append("mastered at \(Self.luminance(peak))")
      }
    }
    if let profile = color.dolbyVision {
      parts.append("data of Dolby Vision profile \(profile) ignored")
    }
    var assumed: [String] = []
    var overriding: [String] = []
    if let matrix = color.assumedMatrix {
      assumed.append(matrix == .bt601 ? "BT.601" : matrix.rawValue)
      overriding.append("color.matrix")
    }
    if let range = color.assumedRange {
      assumed.append("\(range.rawValue) range")
      overriding.append("color.range")
    }
    let all = parts.joined(separator: ", ")
    guard !assumed.isEmpty else { return all }
    return all
      + "; \(assumed.joined(separator: " and ")) assumed as the ffmpeg command line does (\(overriding.joined(separator: ", ")))"
  }

  /// `1000 cd/m²`; fractions only where there are any.
  private static func luminance(_ value: Double) -> String {
    (Int(exactly: value).map { "\($0)" } ?? "\(value)") + " cd/m²"
  }
}

/// Decodes every depth and confidence record once, checks color pictures of one file each, and
/// collects problems: the part of an inspection that goes beyond opening a capture.
public struct StreamScan: Sendable {
  public var warnings: [CaptureWarning] = []
  /// Payload kinds found, by stream name, if the records state them.
  public var encodings: [String: String] = [:]

  /// The empty result.
  public init() {}

  /// Decodes the streams. Cost: one decode, spread over the cores of `budget`; memory of one frame
  /// per core.
  public init(_ capture: Capture, budget: CoreBudget) throws {
    // In the order of the stages, whose warnings a run lists.
    if case .pictures(let pictures)? = capture.color.value?.source { try scan(pictures, budget) }
    try scan(capture.depth.value, as: "depth", budget)
    try scan(capture.confidence.value, as: "confidence", budget)
  }

  /// Checks color pictures of one file each, without making their pixels.
  private mutating func scan(_ pictures: ColorPictures, _ budget: CoreBudget) throws {
    let tally = OutcomeTally(subject: "color")
    let issues = try concurrentMap(count: pictures.count, budget: budget) { index in
      try pictures.stored(index).issue
    }
    for issue in issues { tally.add(RecordOutcome(hasPicture: true, issue: issue)) }
    warnings += tally.warnings
  }

  private mutating func scan<Pixel>(
    _ stream: PictureStream<Pixel>?, as name: String, _ budget: CoreBudget
  ) throws {
    guard let stream else { return }
    let tally = OutcomeTally(subject: name)
    switch stream.access {
    case .indexed(let source):
      // Records per piece of work: they share one buffer, and few result slots are needed.
      let piece = 16
      _ = try concurrentMap(count: (source.recordCount + piece - 1) / piece, budget: budget) {
        index in
        var pixels: [Pixel] = []
        for record in (index * piece)..<min((index + 1) * piece, source.recordCount) {
          let outcome = try source.decode(record: record, into: &pixels)
          tally.add(outcome, pixels)
        }
      }
    case .ordered(let source):
      let reader = try source.makeReader()
      var pixels: [Pixel] = []
      while let outcome = try reader.next(into: &pixels) { tally.add(outcome, pixels) }
    }
    warnings += tally.warnings
    encodings[name] = tally.encoding
  }
}

extension KeyedEncodingContainer<TextKey> {
  /// Encodes members, in order; `null` for those without a value.
  mutating func encode(_ members: KeyValuePairs<TextKey, (any Encodable)?>) throws {
    for (key, value) in members {
      if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
  }
}
