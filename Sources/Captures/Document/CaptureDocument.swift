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
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(1, forKey: "schema")
    try object.encode(PathText.shown(capture.id), forKey: "id")
    try object.encode(capture.family.rawValue, forKey: "family")
    try object.encode(capture.generation, forKey: "generation")
    try object.encode(capture.path.shown, forKey: "path")
    try object.encode(
      ["id": capture.device.id, "name": capture.device.name, "model": capture.device.model],
      forKey: "device")
    try object.encode(
      [
        "label": capture.scene.label, "type": capture.scene.type,
        "description": capture.scene.description,
      ], forKey: "scene")
    try object.encodeIfPresent(capture.user, forKey: "user")
    try object.encode(capture.recordedAt, forKey: "recordedAt")
    try object.encode(capture.clock, forKey: "clock")
    try object.encode(capture.frames.count, forKey: "frames")
    try encodeStreams(into: &object)
    try object.encodeIfPresent(capture.poses.value?.world?.rawValue, forKey: "world")
    try object.encode(capture.alignment.map(AlignmentDocument.init), forKey: "alignment")
    try object.encode(capture.completeness, forKey: "completeness")
    try object.encode(capture.completeness.absentFiles, forKey: "missing")
    try object.encode(warnings, forKey: "warnings")
    let lacking = capture.claims.lacking
    if !lacking.isEmpty {
      try object.encode(lacking.map(LackDocument.init), forKey: "lacking")
    }
    try object.encode(Self.errors(of: capture), forKey: "errors")
    for (name, value) in measured.sorted(by: { $0.key < $1.key }) {
      try value.encode(to: object.superEncoder(forKey: Key(name)))
    }
  }

  private func encodeStreams(into object: inout KeyedEncodingContainer<Key>) throws {
    var streams = object.nestedContainer(keyedBy: Key.self, forKey: "streams")
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
    try streams.encode(color, forKey: "color")
    try streams.encode(described(capture.depth, "depth") { $0.description }, forKey: "depth")
    try streams.encode(
      described(capture.confidence, "confidence") { $0.description }, forKey: "confidence")
    try streams.encode(imu, forKey: "imu")
    try streams.encode(described(capture.poses, "poses") { $0.description }, forKey: "poses")
    try streams.encode(
      described(capture.cameraSettings, "cameraSettings") { $0.description },
      forKey: "cameraSettings")
    try streams.encode(described(capture.geo, "geo") { $0.description }, forKey: "geo")
  }

  private static func errors(of capture: Capture) -> [ErrorDocument] {
    capture.errors.map { ErrorDocument(stream: $0.stream, error: $0.error) }
  }

  struct Key: CodingKey, ExpressibleByStringLiteral {
    var stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init(stringLiteral value: String) { stringValue = value }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// A stream that has less than the capture declares. The pipeline decides whether the loss is large
/// enough to be a shortfall.
private struct LackDocument: Encodable {
  private let claim: StreamClaim

  init(_ claim: StreamClaim) { self.claim = claim }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CaptureDocument.Key.self)
    try object.encode(claim.stream, forKey: "stream")
    try object.encode(claim.held, forKey: "held")
    try object.encode(claim.declared, forKey: "declared")
    try object.encode(claim.unit, forKey: "unit")
    try object.encode(claim.source, forKey: "declaredBy")
    try object.encode((1000 * claim.lostShare).rounded() / 10, forKey: "lostPercent")
  }
}

/// A stream that cannot be read.
private struct ErrorDocument: Encodable {
  var stream: String
  var error: CaptureError

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CaptureDocument.Key.self)
    try object.encode(stream, forKey: "stream")
    try object.encode(error.file.shown, forKey: "file")
    try object.encode(error.record, forKey: "record")
    try object.encode(error.byteOffset, forKey: "byteOffset")
    try object.encode(error.description, forKey: "message")
  }
}

private struct StreamDocument: Encodable {
  var description: StreamDescription
  var clockwiseQuarterTurns: Int?
  var isMirrored: Bool?
  var samples: [String: Int]?
  var convention: IMUConvention?

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CaptureDocument.Key.self)
    try object.encode(description.file, forKey: "file")
    try object.encode(
      description.encoding.isEmpty ? nil : description.encoding, forKey: "encoding")
    try object.encode(description.width, forKey: "width")
    try object.encode(description.height, forKey: "height")
    try object.encode(description.frames, forKey: "frames")
    try object.encode(description.declaredFrames, forKey: "declaredFrames")
    try object.encode(description.firstTimestamp?.nanoseconds, forKey: "firstTimestampNs")
    try object.encode(description.lastTimestamp?.nanoseconds, forKey: "lastTimestampNs")
    try object.encode(description.rateHz, forKey: "rateHz")
    try object.encode(description.gaps, forKey: "gaps")
    try object.encodeIfPresent(
      description.readoutSeconds.map { ($0 * 1e9).rounded() }.flatMap { Int64(exactly: $0) },
      forKey: "readoutNs")
    try object.encodeIfPresent(description.pairing, forKey: "pairing")
    if let color = description.color {
      try object.encode(color.bitDepth, forKey: "bitDepth")
      try object.encode(color.transfer, forKey: "transfer")
      try object.encode(color.primaries, forKey: "primaries")
      try object.encode(color.matrix, forKey: "matrix")
      try object.encode(color.range, forKey: "range")
      try object.encode(color.assumedMatrix?.rawValue, forKey: "assumedMatrix")
      try object.encode(color.assumedRange?.rawValue, forKey: "assumedRange")
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
    var object = encoder.container(keyedBy: CaptureDocument.Key.self)
    try object.encode(1, forKey: "schema")
    try object.encode(calibration.registered, forKey: "registered")
    try object.encode(calibration.colorFromDepth?.rowMajor, forKey: "colorFromDepth")
    try object.encode(calibration.depthIntrinsics, forKey: "depthIntrinsics")
    try object.encode(calibration.colorIntrinsics, forKey: "colorIntrinsics")
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
