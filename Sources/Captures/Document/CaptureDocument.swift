import Core
import Media
import SystemPackage

/// `capture.json`, which `inspect --json` prints as well: the same structure for all families.
public struct CaptureDocument: Encodable, Sendable {
  private let capture: Capture
  private let warnings: [CaptureWarning]
  private let encodings: [String: String]
  private let lacking: [StreamClaim]
  private let measured: [String: any Encodable & Sendable]

  /// - Parameters:
  ///   - opening: warnings of opening that are told; `nil` for all.
  ///   - found: warnings found by decoding, in addition to those of opening.
  ///   - encodings: payload kinds found by decoding, by stream name.
  ///   - holes: frames that could not be decoded, by stream name.
  ///   - measured: what stages found out about the capture, by key.
  public init(
    _ capture: Capture, opening: [CaptureWarning]? = nil, found: [CaptureWarning] = [],
    encodings: [String: String] = [:], holes: [String: FrameHoles] = [:],
    measured: [String: any Encodable & Sendable] = [:]
  ) {
    self.capture = capture
    warnings = (opening ?? capture.warnings).merged(with: found)
    self.encodings = encodings
    lacking = capture.claims.lacking.counting(holes)
    self.measured = measured
  }

  public func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

  private var members: JSONObject {
    let common: JSONObject = [
      "schema": 1,
      "id": PathText.shown(capture.id),
      "family": capture.family.rawValue,
      "generation": capture.generation,
      "path": capture.path.shown,
      "device": [
        "id": capture.device.id, "name": capture.device.name, "model": capture.device.model,
      ] as JSONObject,
      "scene": [
        "label": capture.scene.label, "type": capture.scene.type,
        "description": capture.scene.description,
      ] as JSONObject,
      "recordedAt": capture.recordedAt,
      "clock": capture.clock,
      "frames": capture.frames.count,
      "streams": streams,
      "alignment": capture.alignment?.document,
      "completeness": capture.completeness,
      "missing": capture.completeness.absentFiles,
      "warnings": warnings,
      "errors": capture.errors.map { Self.members(ofUnreadable: $0.stream, $0.error) },
    ]
    let known: JSONObject = [
      "user": capture.user,
      "uploadedAt": capture.uploadedAt,
      "orientation": capture.orientation,
      "world": capture.poses.value?.world?.rawValue,
      "lacking": lacking.isEmpty ? nil : lacking.map(Self.members(of:)),
    ]
    var all = common.merging(known.withoutNulls)
    for (name, value) in measured { all[name] = value }
    return all
  }

  private var streams: JSONObject {
    let color = capture.color.value
    let imu = capture.imu.value
    return [
      "color": stream(
        capture.color, "color",
        [
          "clockwiseQuarterTurns": color?.clockwiseQuarterTurns,
          "mirrored": color?.isMirrored == true ? true : nil,
        ]
      ) { $0.description },
      "depth": stream(capture.depth, "depth") { $0.description },
      "confidence": stream(capture.confidence, "confidence") { $0.description },
      "imu": stream(
        capture.imu, "imu",
        ["samples": imu?.sampleCounts ?? [:], "convention": imu?.convention]
      ) { $0.description },
      "poses": stream(capture.poses, "poses") { $0.description },
      "cameraSettings": stream(capture.cameraSettings, "cameraSettings") { $0.description },
      "geo": stream(capture.geo, "geo") { $0.description },
    ]
  }

  /// The members of a stream; `nil` for an absent one. An unreadable stream is listed without counts.
  private func stream<Value>(
    _ state: StreamState<Value>, _ name: String, _ more: JSONObject = [:],
    _ describe: (Value) -> StreamDescription
  ) -> JSONObject? {
    let description: StreamDescription
    switch state {
    case .absent: return nil
    case .unreadable(let error):
      description = StreamDescription(file: error.file.shownName, encoding: "", frames: 0)
    case .present(let value):
      var found = describe(value)
      if let encoding = encodings[name] { found.encoding = encoding }
      description = found
    }
    return description.members.merging(more.withoutNulls)
  }

  /// The members of a stream that has less than the capture declares. The pipeline decides whether the
  /// loss is large enough to be a shortfall.
  private static func members(of claim: StreamClaim) -> JSONObject {
    [
      "stream": claim.stream,
      "held": claim.held,
      "declared": claim.declared,
      "unit": claim.unit,
      "declaredBy": claim.source,
      "lostPercent": (1000 * claim.lostShare).rounded() / 10,
    ]
  }

  private static func members(ofUnreadable stream: String, _ error: CaptureError) -> JSONObject {
    [
      "stream": stream,
      "file": error.file.shown,
      "record": error.record,
      "byteOffset": error.byteOffset,
      "message": error.description,
    ]
  }
}

extension StreamDescription {
  fileprivate var members: JSONObject {
    let members: JSONObject = [
      "file": file,
      "encoding": encoding.isEmpty ? nil : encoding,
      "width": width,
      "height": height,
      "frames": frames,
      "declaredFrames": declaredFrames,
      "firstTimestampNs": firstTimestamp?.nanoseconds,
      "lastTimestampNs": lastTimestamp?.nanoseconds,
      "rateHz": rateHz,
      "gaps": gaps,
    ]
    let known: JSONObject = [
      "readoutNs": readoutSeconds.map { ($0 * 1e9).rounded() }.flatMap { Int64(exactly: $0) },
      "pairing": pairing,
    ]
    let all = members.merging(known.withoutNulls)
    guard let color else { return all }
    let light = color.contentLight
    let knownOfColor: JSONObject = [
      "dolbyVisionIgnored": color.dolbyVision,
      "brightestPixelCdPerM2": light?.brightestPixel,
      "masteringPeakCdPerM2": light?.masteringPeak,
    ]
    return all.merging([
      "bitDepth": color.bitDepth,
      "transfer": color.transfer,
      "primaries": color.primaries,
      "matrix": color.matrix,
      "range": color.range,
      "assumedMatrix": color.assumedMatrix?.rawValue,
      "assumedRange": color.assumedRange?.rawValue,
    ]).merging(knownOfColor.withoutNulls)
  }
}

extension DepthCalibration {
  /// The `alignment` object of `capture.json`, which is also the JSON form of a calibration file.
  public var document: JSONObject {
    let lenses = ["depth": depthDistortion, "color": colorDistortion]
    return [
      "schema": 1,
      "registered": registered,
      "colorFromDepth": colorFromDepth?.rowMajor,
      "depthIntrinsics": depthIntrinsics,
      "colorIntrinsics": colorIntrinsics,
      "distortion": statesLens ? lenses.mapValues(Self.coefficients) : nil,
    ]
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
  /// Records that cannot be decoded, by stream name.
  public private(set) var holes: [String: FrameHoles] = [:]

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

  /// The claims of the capture's streams, with what cannot be decoded counted as lost, too.
  public func lacking(_ capture: Capture) -> [StreamClaim] {
    capture.claims.lacking.counting(holes)
  }

  /// Checks color pictures of one file each, without making their pixels.
  private mutating func scan(_ pictures: ColorPictures, _ budget: CoreBudget) throws {
    let tally = OutcomeTally(subject: "color")
    let outcomes = try concurrentMap(count: pictures.count, budget: budget) { index in
      let stored = try pictures.stored(index)
      return RecordOutcome(hasPicture: stored.bytes != nil, issue: stored.issue)
    }
    for outcome in outcomes { tally.add(outcome) }
    warnings += tally.warnings
    holes["color"] = tally.holes(of: pictures.count)
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
    holes[name] = tally.holes(of: stream.access.recordCount)
  }
}
