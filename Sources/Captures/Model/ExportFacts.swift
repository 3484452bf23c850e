import Core

/// Numbers about a capture that exporters need before they start, counted when it is opened.
public struct ExportFacts: Hashable, Sendable, Codable {
  /// Number of frames with a color picture.
  public var pictures = 0
  /// Number of those with a time.
  public var timedPictures = 0
  public var poses = 0
  /// Number of rows of intrinsics.
  public var intrinsics = 0
  /// Number of samples by sensor type.
  public var samples: [String: Int] = [:]
  public var clockwiseQuarterTurns = 0
  public var isMirrored = false
  /// Whether depth and color share one camera.
  public var isRegistered = false
  /// Whether a position is known, single or as a track.
  public var hasPosition = false
  /// Sensors whose values cannot have the unit that the capture states; `nil` for none, so that
  /// records of ordinary captures stay as they are.
  public var doubtfulSensors: [String]?

  /// Facts that a record fills.
  package init() {}

  init(_ capture: Capture) {
    let color = capture.color.value
    let frames = capture.frames
    if let frameOfPicture = color?.frameOfPicture {
      let known = Set(frameOfPicture)
      pictures = known.count
      timedPictures = known.count { frames.indices.contains($0) && frames[$0].pictureTime != nil }
    } else {
      let counted = min(color?.description.frames ?? 0, frames.count)
      pictures = counted
      timedPictures = frames.prefix(counted).count { $0.pictureTime != nil }
    }
    poses = capture.poses.value?.rows.count ?? 0
    intrinsics = capture.intrinsics.value?.count ?? 0
    samples = capture.imu.value?.sampleCounts ?? [:]
    clockwiseQuarterTurns = color?.clockwiseQuarterTurns ?? 0
    isMirrored = color?.isMirrored ?? false
    isRegistered = capture.alignment?.registered ?? false
    let track = capture.geo.value?.track
    hasPosition =
      track.map { !$0.positions.isEmpty || ($0.heldLatitude != nil && $0.heldLongitude != nil) }
      ?? false
    let doubtful = capture.warnings.filter { $0.code == .implausibleUnit }.map(\.subject)
      .filter { samples[$0] != nil }
    doubtfulSensors = doubtful.isEmpty ? nil : doubtful
  }
}

extension CaptureFrame {
  /// The time of the color picture if it has one, else that of the frame.
  public var pictureTime: Timestamp? { colorTimestamp ?? timestamp }
  /// The time of the depth picture if it has one, else that of the color picture.
  public var depthPictureTime: Timestamp? { depthTimestamp ?? pictureTime }
}

/// Whether a stream of a capture is available, absent or unreadable.
///
/// Stages that need an absent stream do not apply; stages that need an unreadable one fail.
public enum StreamState<Value: Sendable>: Sendable {
  /// The stream is not part of this capture; the text says why ("the family has no depth", "no file x.imu").
  case absent(String)
  case unreadable(CaptureError)
  case present(Value)

  /// The stream, if it is available.
  public var value: Value? {
    if case .present(let value) = self { value } else { nil }
  }

  /// The error of an unreadable stream.
  public var error: CaptureError? {
    if case .unreadable(let error) = self { error } else { nil }
  }
}

extension StreamState {
  /// What can be read, or the error.
  init(_ read: @autoclosure () throws(CaptureError) -> Value) {
    do throws(CaptureError) {
      self = .present(try read())
    } catch {
      self = .unreadable(error)
    }
  }

  /// The state with another value.
  func map<Other>(_ transform: (Value) -> Other) -> StreamState<Other> {
    then { .present(transform($0)) }
  }

  /// What `next` makes of a present value; without one, why there is none.
  func then<Other>(_ next: (Value) -> StreamState<Other>) -> StreamState<Other> {
    switch self {
    case .absent(let why): .absent(why)
    case .unreadable(let error): .unreadable(error)
    case .present(let value): next(value)
    }
  }
}
