import Captures
import Core
import Engine
import Processing

/// What GPX, GeoJSON and KML have in common: they need a position, but neither pictures nor frames.
/// Only these exports contain location, device name and user name.
protocol GeoExport: ExportStage {}

extension GeoExport {
  static var hasFrames: Bool { false }
  static var needs: ExportNeeds { [.position] }
  static var ports: [Port] { [] }
  static func pictures(_ parameters: ParameterValues) -> String? { nil }

  static var reads: Set<CapturePart> { [.frames, .geo] }
  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> { [] }

  /// Applies even without frames, but not if a file that determines the frames cannot be read.
  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    switch capture.state(of: .geo) {
    case .absent(let why):
      return .notApplicable(why.isEmpty ? "no position" : "no position: \(why)")
    case .unreadable(let why): return .unreadable(why)
    case .present: break
    }
    if case .unreadable(let why) = capture.state(of: .frames) { return .unreadable(why) }
    if !capture.exports.hasPosition {
      return .notApplicable("no position: no fix was recorded")
    }
    return .applies
  }
}

/// A point of the track: a position knot.
struct TrackPoint: Hashable {
  var place: GeoPoint
  /// Time of day, UTC; `nil` = unknown.
  var time: String?
  /// Radius in meters; `nil` = unknown.
  var accuracy: Double?
  /// Degrees clockwise from true north; `nil` = unknown.
  var heading: Double?
  /// Meters above mean sea level; `nil` = unknown.
  var altitude: Double?
}

/// Position of the camera at a frame.
struct FramePosition {
  var frame: Int
  var timestamp: Timestamp?
  var point: TrackPoint
  var source: GeoSample.Source
  /// Name of the frame without extension: such an export has no pictures, and those in `color/` may
  /// be PNG, JPEG, or missing.
  var name: String { FrameFileName.stem(frame) }
}

/// Positions of a capture, as all three formats write them.
struct GeoTrackSource {
  /// Position knots, cut where more than 10 s are between two.
  let segments: [[TrackPoint]]
  /// Frames with a position.
  let frames: ExportFrames
  /// Why no point has a time of day; `nil` if they have.
  let missingTimes: String?
  let title: String
  let device: String?
  let user: String?
  /// Time of day at the start.
  let start: String?
  private let capture: Capture
  private let sampler: GeoTrackSampler
  private let geo: GeoStream
  /// The positions that were measured for single frames, by frame.
  private let fixes: [Int: GeoPosition]
  private let clock: AbsoluteClock?

  /// - Throws: `StageDoesNotApply` without any position, the error of an unreadable stream.
  init(_ context: StageContext) throws {
    capture = context.capture
    if let error = capture.geo.error { throw error }
    guard let geo = capture.geo.value else {
      throw StageDoesNotApply("no position was recorded")
    }
    self.geo = geo
    fixes = Self.fixes(geo)
    let sampler = GeoTrackSampler(Self.timed(geo, capture.frames))
    self.sampler = sampler
    do throws(AbsoluteClock.Missing) {
      clock = try AbsoluteClock(capture)
      missingTimes = nil
    } catch {
      clock = nil
      missingTimes = error.rawValue
    }
    segments = Self.segments(geo, sampler, clock)
    guard !segments.isEmpty else { throw StageDoesNotApply("no position: no fix was recorded") }
    let times = capture.frames.map(\.timestamp)
    let hasOneFix = geo.coverage == .firstFrameOnly
    var measured: Set<Int>?
    if case .frames(let frames) = geo.coverage { measured = Set(frames) }
    frames = ExportFrames(count: times.count, context.parameters) { frame in
      // A single fix of the whole capture belongs to its first frame.
      if hasOneFix { return frame == 0 ? nil : .noPosition }
      if let measured, !measured.contains(frame) { return .noPosition }
      return times[frame] == nil ? .noTime : nil
    }
    title = capture.scene.label.flatMap { $0.isEmpty ? nil : $0 } ?? capture.id
    let parts = [capture.device.name, capture.device.model].compactMap { $0 }
    device = parts.isEmpty ? nil : parts.joined(separator: ", ")
    user = capture.user
    start = AbsoluteClock.start(capture)
  }

  /// Whether any point has an altitude.
  var hasAltitude: Bool { geo.track.hasAltitude }

  /// Whether one fix applies to the whole capture.
  var hasOneFix: Bool { geo.coverage == .firstFrameOnly }

  /// A description for people, written to the files.
  var description: String {
    let times =
      missingTimes.map { "No times of day: \($0)." }
      ?? "Times of day are good to seconds only: they follow from the start of the recording."
    return ([capture.scene.description, times] as [String?]).compactMap { $0 }
      .joined(separator: " ")
  }

  /// Writes the place of each frame, in order.
  ///
  /// - Returns: the names of the frames.
  func places(
    _ context: StageContext, write: (FramePosition) throws -> Void
  ) throws -> [String] {
    try frames.frames.map { frame in
      try context.cancellation.check()
      guard let place = place(frame) else {
        throw InternalError("frame \(frame) has no place, which it had when it was counted")
      }
      try write(place)
      return place.name
    }
  }

  /// Position of an exported frame, as in `geo.csv`.
  func place(_ frame: Int) -> FramePosition? {
    let timestamp = capture.frames[frame].timestamp
    let fixTime = geo.track.positions.first?.timestamp ?? Timestamp(nanoseconds: 0)
    guard let time = hasOneFix ? fixTime : timestamp else { return nil }
    var sample = sampler.sample(at: time)
    if let fix = fixes[frame] {
      // Other frames may have the same time.
      (sample.latitude, sample.longitude) = (fix.latitude, fix.longitude)
      (sample.accuracy, sample.altitude, sample.source) = (fix.accuracy, fix.altitude, .measured)
    }
    guard let latitude = sample.latitude, let longitude = sample.longitude,
      let source = sample.source
    else { return nil }
    return FramePosition(
      frame: frame, timestamp: timestamp,
      point: TrackPoint(
        place: GeoPoint(longitude: longitude, latitude: latitude),
        time: timestamp.flatMap { clock?.text($0) }, accuracy: sample.accuracy,
        heading: sample.heading, altitude: sample.altitude), source: source)
  }

  /// The content of the files, from which assumptions are determined.
  ///
  /// - Parameter names: of the frames; `nil` for a format without positions of frames.
  func stated(_ context: StageContext, names: [String]?) -> ExportContent {
    var content = ExportContent(context, names == nil ? nil : frames)
    content.names = names ?? []
    var positions = ExportContent.Positions()
    positions.isSingleFix = hasOneFix
    positions.hasTimesOfDay = missingTimes == nil
    positions.hasAltitude = hasAltitude
    for frame in content.frames {
      switch place(frame)?.source {
      case .interpolated: positions.interpolated += 1
      case .held: positions.held += 1
      case .measured, nil: break
      }
    }
    content.positions = positions
    return content
  }

  private static func fixes(_ geo: GeoStream) -> [Int: GeoPosition] {
    guard case .frames(let measured) = geo.coverage else { return [:] }
    return Dictionary(zip(measured, geo.track.positions)) { first, _ in first }
  }

  /// The track without the fixes of frames that have no time, which have none either; all of it if
  /// no other fix is there.
  private static func timed(_ geo: GeoStream, _ frames: [CaptureFrame]) -> GeoTrack {
    guard case .frames(let measured) = geo.coverage else { return geo.track }
    var track = geo.track
    track.positions = zip(measured, geo.track.positions).compactMap { frame, position in
      frames.indices.contains(frame) && frames[frame].timestamp != nil ? position : nil
    }
    return track.positions.isEmpty ? geo.track : track
  }

  private static func segments(
    _ geo: GeoStream, _ sampler: GeoTrackSampler, _ clock: AbsoluteClock?
  ) -> [[TrackPoint]] {
    let knots = sampler.positionKnots
    guard !knots.isEmpty else {
      // What the capture states for the whole recording, without a time.
      let sample = sampler.sample(at: Timestamp(nanoseconds: 0))
      guard let latitude = sample.latitude, let longitude = sample.longitude else { return [] }
      return [
        [
          TrackPoint(
            place: GeoPoint(longitude: longitude, latitude: latitude), accuracy: sample.accuracy,
            heading: geo.track.headings.isEmpty ? sample.heading : nil)
        ]
      ]
    }
    var segments: [[TrackPoint]] = []
    var previous: Timestamp?
    for knot in knots {
      let point = TrackPoint(
        place: GeoPoint(longitude: knot.longitude, latitude: knot.latitude),
        time: clock?.text(knot.timestamp), accuracy: knot.accuracy,
        heading: sampler.sample(at: knot.timestamp).heading, altitude: knot.altitude)
      let isPause =
        previous.map { knot.timestamp - $0 > GeoTrackSampler.longestInterpolationNanoseconds }
        ?? true
      if isPause { segments.append([]) }
      segments[segments.count - 1].append(point)
      previous = knot.timestamp
    }
    return segments
  }
}

/// Converts capture times to times of day: `recordedAt` + (t - time of the first frame), or
/// `recordedAt` + t if the clock starts with the recording. Accurate to seconds, as `recordedAt`
/// is.
struct AbsoluteClock {
  /// Nanoseconds since 1970 at the capture clock's 0.
  private let zero: Int64

  /// The clock of captures whose times were moved already.
  static let unix = AbsoluteClock(zero: 0)

  private init(zero: Int64) { self.zero = zero }

  /// Why there are no times of day.
  enum Missing: String, Error {
    case unknown = "the start of the recording is not known"
    case dateOnly = "for the start of the recording, only the date is known"
    case noZone = "the start of the recording is known without its time zone"
    case noFrameTime = "no frame has a time that the start of the recording belongs to"
    case outOfRange = "the start of the recording is out of range"
  }

  init(_ capture: Capture) throws(Missing) {
    guard let text = capture.recordedAt, !text.isEmpty else { throw .unknown }
    let start = try Self.nanoseconds(text)
    if capture.clock.base == .recordingStart {
      zero = start
      return
    }
    guard let first = capture.frames.lazy.compactMap(\.timestamp).first else {
      throw .noFrameTime
    }
    let (difference, overflow) = start.subtractingReportingOverflow(first.nanoseconds)
    guard !overflow else { throw .outOfRange }
    zero = difference
  }

  /// `2012-08-07T15:10:57.250Z`: UTC, rounded to milliseconds. `nil` outside the years 1678 … 2261.
  func text(_ time: Timestamp) -> String? {
    let (sum, overflow) = zero.addingReportingOverflow(time.nanoseconds)
    let (rounded, tooFar) = sum.addingReportingOverflow(500_000)
    guard !overflow, !tooFar else { return nil }
    return UTCText.text(milliseconds: Self.floorDivided(rounded, by: 1_000_000))
  }

  /// The capture with all its times since 1970.
  func moved(_ capture: Capture) -> Capture {
    func moved(_ time: Timestamp) -> Timestamp { time.advanced(byNanoseconds: zero) }
    var capture = capture
    capture.frames = capture.frames.map {
      CaptureFrame(
        timestamp: $0.timestamp.map(moved), colorTimestamp: $0.colorTimestamp.map(moved),
        depthTimestamp: $0.depthTimestamp.map(moved))
    }
    if var imu = capture.imu.value {
      for index in imu.samples.indices {
        imu.samples[index].timestamp = moved(imu.samples[index].timestamp)
      }
      capture.imu = .present(imu)
    }
    if var geo = capture.geo.value {
      for index in geo.track.positions.indices {
        geo.track.positions[index].timestamp = moved(geo.track.positions[index].timestamp)
      }
      capture.geo = .present(geo)
    }
    return capture
  }

  /// UTC time of the start of the recording.
  static func start(_ capture: Capture) -> String? {
    guard let text = capture.recordedAt, let start = try? nanoseconds(text) else { return nil }
    return UTCText.text(milliseconds: floorDivided(start, by: 1_000_000))
  }

  private static func nanoseconds(_ text: String) throws(Missing) -> Int64 {
    guard let separator = text.firstIndex(of: "T") else { throw .dateOnly }
    let clock = text[separator...]
    guard clock.contains(where: { "Z+-".contains($0) }) else { throw .noZone }
    guard let start = ISOTime(text) else { throw .unknown }
    guard let nanoseconds = start.nanoseconds else { throw .outOfRange }
    return nanoseconds
  }

  private static func floorDivided(_ value: Int64, by divisor: Int64) -> Int64 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
