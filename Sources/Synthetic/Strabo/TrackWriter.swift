import Core
import Media
import SystemPackage

/// Synthesizes Strabo captures: a movie or a still with a log of position and heading.
enum StraboFamily: String, SyntheticFamily {
  typealias Plan = TrackPlan
  /// The key of the movie's clock.
  typealias Clock = UInt64

  /// A movie; tokens of 64 digits, paths that include the token's folder.
  case v1
  /// A still picture.
  case v1Still = "v1-still"
  /// A movie of the first months: tokens of 32 digits, file names only.
  case v0

  var isStill: Bool { self == .v1Still }

  /// The generation's name in a reader's result.
  var generation: String { self == .v0 ? "v0" : "v1" }

  static let name = "strabo"
  static let leastFrames = 1
  static let about = "640x480 color in portrait, 90 frames at 30 per second, or a still"
  fileprivate static let title = "Caf\u{e9} \"A\" / B \u{2603}"

  var hasMotion: Bool { false }

  func plan(frames: Int?) -> Plan { Plan(form: self, frames: frames ?? 90) }

  static func setup(_ plan: Plan, _ options: SynthesisOptions) -> Setup {
    let stored = PinholeCamera(
      width: 640, height: 480, fx: 590.3, fy: 590.3, cx: 320.8, cy: 238.6
    ).scaled(toWidth: options.width ?? 640, height: options.height ?? 480)
    let color = stored.turnedClockwise(quarterTurns: plan.clockwiseQuarterTurns)
    var random = SeededRandom(seed: options.seed, "movie clock")
    return (
      token(plan.form, seed: options.seed), options.rate ?? 30,
      Rig(
        options, color: color,
        depth: color.scaled(toWidth: color.width / 2, height: color.height / 2)),
      random.next()
    )
  }

  fileprivate static func token(_ form: StraboFamily, seed: UInt64) -> String {
    SeededNames.hex(seed: seed, "token", count: form == .v0 ? 32 : 64)
  }

  static func times(of frame: Int, in work: Synthesis<Self>) -> FrameTimes {
    (work.seconds(frame), work.nanoseconds(frame))
  }

  static func write(_ work: Synthesis<Self>, _ truth: inout TruthWriter) throws -> Found {
    let plan = work.plan
    try work.writePictures(&truth)
    let points = plan.points(duration: work.duration, seed: work.options.seed)
    let held =
      plan.crossesNorth
      ? TrackPoint(seconds: 0, latitude: -16.5, longitude: 179.99999, accuracy: 0, heading: 2)
      : TrackPoint(seconds: 0, latitude: 12.3456, longitude: -34.5678, accuracy: 0, heading: 99.4)
    try work.write(work.info(held).bytes(escapingSlashes: true), "capture-info.json")
    if plan.hasGeodata {
      let log: JSONObject = ["points": points.map(\.json)]
      let bytes = try log.bytes()
      try work.write(
        plan.isBrokenJSON ? Array("<".utf8) + bytes.dropFirst() : bytes, work.named("json"))
    }
    let isRead = plan.hasGeodata && !plan.isBrokenJSON
    let read = isRead ? Array(points.dropFirst(plan.hasStalePoint ? 1 : 0)) : []
    return (work.expected(read, held: held), plan.warnings(points))
  }
}

extension Synthesis<StraboFamily> {
  fileprivate var token: String { StraboFamily.token(plan.form, seed: options.seed) }

  /// August 2012, when the app was in use.
  fileprivate var createdAt: Int { 1_344_352_260 + Int(options.seed % 86_400) }

  fileprivate func named(_ fileExtension: String) -> String { "\(token).\(fileExtension)" }

  fileprivate func writePictures(_ truth: inout TruthWriter) throws {
    let media = named(plan.form.isStill ? "jpg" : "mov")
    let turns = plan.clockwiseQuarterTurns
    let stored = turns % 2 == 0 ? rig.color : rig.color.turnedClockwise(quarterTurns: 1)
    let form = VideoSink.Form(container: .mov, clockwiseQuarterTurns: turns)
    let video = try self.video(
      media, form, camera: stored,
      isThere: plan.pictures > 0 && !plan.form.isStill)
    try render(
      &truth, video: turns % 4 == 0 ? video : nil, camera: { _ in rig.color }
    ) { frame, _, upright in
      guard let upright else { return }
      if frame == 0 { try writeThumbnail(of: upright) }
      let picture = upright.stored(clockwiseQuarterTurns: turns)
      if plan.form.isStill, plan.pictures > 0 {
        let orientation = ColorImage.orientation(turns)
        let file = try picture.jpeg(quality: 90)
        try write(ColorImage.tagged(file, orientation: orientation), media)
      } else {
        try video?.append(picture, ticks: ticks(frame))
      }
    }
    try video?.finish()
    if plan.hasMedia, plan.hasEmptyMedia { try write([], media) }
  }

  /// Movies get a small thumbnail; stills one in full size.
  private func writeThumbnail(of upright: ColorImage) throws {
    guard plan.hasThumbnail else { return }
    let (width, height) = thumbnailSize(width: upright.width, height: upright.height)
    let factor = plan.hasLargeThumbnail ? 2 : 1
    let small =
      plan.form.isStill ? upright : upright.scaled(width: width * factor, height: height * factor)
    var png = PNGWriter(compression: .compact)
    try write(png.encode(small), named("png"))
  }

  /// - Parameter points: those that a reader uses.
  fileprivate func expected(_ points: [TrackPoint], held: TrackPoint) -> JSONObject {
    let pictures = plan.pictures
    let frameTimes = (0..<pictures).map(nanoseconds)
    let rows = TrackRows(points: points, held: held)
    let thumbnail = thumbnailSize(width: rig.color.width, height: rig.color.height)
    var failing: [String] = []
    if plan.hasEmptyMedia { failing.append("color") }
    if plan.isBrokenJSON { failing.append("tables") }
    return [
      "generation": plan.form.generation, "frames": pictures,
      "streams": ["color": color, "geo": ["points": points.count]] as JSONObject,
      "depthSha256": [Int](), "confidenceSha256": [Int](), "colorFrames": pictures,
      "colorFrameCode": frameCodes(pictures),
      "howToReadFrameCode": "in the upright picture: \(FrameCode.howToRead)",
      "timestampsNs": ["frames": frameTimes, "color": frameTimes],
      "poses": [Int](), "intrinsics": nil, "imu": nil,
      "geo": plan.isBrokenJSON
        ? nil
        : [
          "columns": "timestamp_ns,latitude_deg,longitude_deg,accuracy_m,heading_deg,source",
          "rows": frameTimes.map(rows.row(at:)),
        ] as JSONObject,
      "thumbnail": pictures > 0 ? [thumbnail.width, thumbnail.height] : nil,
      "metadata": [
        "scene.label": StraboFamily.title, "createdAt": createdAt,
        "durationS": duration,
      ] as JSONObject,
      "mustFail": failing, "mayFail": plan.hasEmptyMedia ? ["thumbnail"] : [],
      "exitCode": failing.isEmpty ? 0 : 1,
    ]
  }

  private var color: JSONObject? {
    guard plan.pictures > 0 else { return nil }
    let isSideways = plan.clockwiseQuarterTurns % 2 == 1
    let (width, height) = rig.color.size
    return [
      "frames": plan.pictures, "width": width, "height": height,
      "storedWidth": isSideways ? height : width, "storedHeight": isSideways ? width : height,
      "clockwiseQuarterTurns": plan.clockwiseQuarterTurns,
      "encoding": plan.form.isStill ? "jpeg" : "h264",
    ]
  }
}

extension TrackPlan {
  /// What a reader must report.
  ///
  /// - Parameter points: in file order, including stale ones.
  fileprivate func warnings(_ points: [TrackPoint]) -> WarningTally {
    var warnings = WarningTally()
    warnings.add("missing-file", [hasMedia, hasGeodata, hasThumbnail].count { !$0 })
    if hasBadPaths { warnings.add("path-outside-capture", 3) }
    warnings.add("size-mismatch", hasLargeThumbnail)
    warnings.add("unknown-key", hasUnknownKey)
    warnings.add("missing-key", lacksMediaType)
    if isBrokenJSON { return warnings }
    let read = hasGeodata ? points : []
    warnings.add("geo-no-fix", read.isEmpty)
    warnings.add("geo-unordered", zip(read.dropFirst(), read).count { $0.seconds < $1.seconds })
    let kept = read.dropFirst(hasStalePoint ? 1 : 0)
    warnings.add("timestamps-duplicate", kept.count - Set(kept.map(\.seconds)).count)
    warnings.add("geo-no-fix", kept.count { !$0.hasFix })
    return warnings
  }
}

/// The rows of `geo.csv` that a reader must write, computed from the points by the rules of the
/// format.
struct TrackRows {
  private struct Knot {
    var time: Int64
    var latitude = 0.0
    var longitude = 0.0
    var accuracy = 0.0
    var heading = 0.0
  }

  private let positions: [Knot]
  private let headings: [Knot]
  private let held: TrackPoint
  /// If knots are further apart, the earlier one is held.
  private static let longestPause: Int64 = 10_000_000_000

  /// - Parameters:
  ///   - points: in file order, without stale ones.
  ///   - held: the position and heading in `capture-info.json`.
  init(points: [TrackPoint], held: TrackPoint) {
    self.held = held
    // A stable sort by time; of points at one time the last in the file is used.
    var latest: [Int64: TrackPoint] = [:]
    for point in points {
      if let time = Timestamp(decimalSeconds: "\(point.seconds)") {
        latest[time.nanoseconds] = point
      }
    }
    let sorted = latest.sorted { $0.key < $1.key }.map { time, point in
      (
        point,
        Knot(
          time: time, latitude: point.latitude, longitude: point.longitude,
          accuracy: point.accuracy, heading: point.heading == 360 ? 0 : point.heading)
      )
    }
    positions = Self.knots(sorted.filter { $0.0.hasFix }.map { $0.1 }) {
      $0.latitude == $1.latitude && $0.longitude == $1.longitude && $0.accuracy == $1.accuracy
    }
    headings = Self.knots(sorted.filter { $0.0.hasHeading }.map { $0.1 }) {
      $0.heading == $1.heading
    }
  }

  /// The first, every one that differs from the one before, the last.
  private static func knots(_ all: [Knot], areEqual: (Knot, Knot) -> Bool) -> [Knot] {
    all.indices.filter {
      $0 == 0 || $0 == all.count - 1 || !areEqual(all[$0 - 1], all[$0])
    }.map { all[$0] }
  }

  /// Time, latitude, longitude, accuracy, heading, source.
  func row(at time: Int64) -> JSONRow {
    var heading: Double?
    if held.hasHeading { heading = held.heading == 360 ? 0 : held.heading }
    if let (a, b, weight, _) = Self.place(time, in: headings) {
      heading = Self.heading(a.heading, b.heading, weight)
    }
    guard let (a, b, weight, source) = Self.place(time, in: positions) else {
      return [time, held.latitude, held.longitude, nil, heading, "held"]
    }
    return [
      time, a.latitude + (b.latitude - a.latitude) * weight,
      Self.longitude(a.longitude, b.longitude, weight),
      weight == 0 ? a.accuracy : max(a.accuracy, b.accuracy), heading, source,
    ]
  }

  /// The knots around a time, the fraction of the way between them, and the source of the value.
  private static func place(
    _ time: Int64, in knots: [Knot]
  ) -> (Knot, Knot, Double, String)? {
    guard let first = knots.first, let last = knots.last else { return nil }
    if let exact = knots.first(where: { $0.time == time }) { return (exact, exact, 0, "measured") }
    if time < first.time { return (first, first, 0, "held") }
    if time > last.time { return (last, last, 0, "held") }
    guard let next = knots.firstIndex(where: { $0.time > time }), next > 0 else { return nil }
    let (a, b) = (knots[next - 1], knots[next])
    if b.time - a.time > longestPause { return (a, a, 0, "held") }
    return (a, b, Double(time - a.time) / Double(b.time - a.time), "interpolated")
  }

  private static func longitude(_ a: Double, _ b: Double, _ weight: Double) -> Double {
    var step = b - a
    if step > 180 { step -= 360 }
    if step < -180 { step += 360 }
    let value = a + step * weight
    if value >= 180 { return value - 360 }
    return value < -180 ? value + 360 : value
  }

  private static func heading(_ a: Double, _ b: Double, _ weight: Double) -> Double {
    let turned = (b - a + 540).truncatingRemainder(dividingBy: 360)
    let step = (turned < 0 ? turned + 360 : turned) - 180
    var value = (a + step * weight).truncatingRemainder(dividingBy: 360)
    if value < 0 { value += 360 }
    return value >= 360 ? 0 : value
  }
}

extension Synthesis<StraboFamily> {
  /// `capture-info.json`.
  fileprivate func info(_ first: TrackPoint) -> JSONObject {
    let mediaExtension = plan.form.isStill ? "jpg" : "mov"
    var members: JSONObject = [
      "token": token, "title": StraboFamily.title, "uploaded_at": 0,
      "coords": [first.latitude, first.longitude], "heading": first.heading,
      "orientation": "vertical",
      "media_file": stated("\(token).\(mediaExtension)", "/etc/hostname"),
      "geodata_file": stated("\(token).json", "\(token)/../../../outside/\(token).json"),
      "thumbnail_file": stated("\(token).png", "../../secret.png"),
    ]
    if !plan.lacksMediaType { members["media_type"] = plan.form.isStill ? "image" : "video" }
    if !plan.lacksCreationTime {
      members["created_at"] = plan.form == .v0 ? "\(createdAt)" as JSONObject.Member : createdAt
    }
    if plan.hasUnknownKey { members["battery"] = 7 }
    return members
  }

  /// The path of a file, or another one.
  private func stated(_ name: String, _ bad: String) -> String {
    if plan.hasBadPaths { return bad }
    return plan.form == .v0 ? name : "\(token)/\(name)"
  }
}

/// Display times of a movie's pictures: uneven steps on a clock of 600 ticks per second.
extension Synthesis<StraboFamily> {
  private var period: Double { 600 / rate }

  /// Increasing; every 30th step is one and a half times as long.
  fileprivate func ticks(_ frame: Int) -> Int64 {
    if frame == 0 { return 0 }
    var random = SeededRandom(key: clock, frame: frame, row: 0)
    let jitter = Double(random.index(below: 3) - 1)
    let place = (Double(frame) + 0.5 * Double(frame / 30)) * period
    return Int64((place + (period >= 8 ? jitter : 0)).rounded())
  }

  fileprivate func seconds(_ frame: Int) -> Double { Double(ticks(frame)) / 600 }

  fileprivate func nanoseconds(_ frame: Int) -> Int64 {
    VideoTimeBase(denominator: 600).nanoseconds(ofTicks: ticks(frame)) ?? 0
  }

  /// Duration of all frames; the last one is displayed for one period.
  fileprivate var duration: Double {
    plan.form.isStill ? 0 : seconds(plan.frames - 1) + period / 600
  }
}

/// Width and height that a thumbnail of a picture must have: the longest side at most 300.
private func thumbnailSize(width: Int, height: Int) -> (width: Int, height: Int) {
  let scale = min(1, 300 / Double(max(width, height)))
  func side(_ pixels: Int) -> Int {
    max(1, Int((Double(pixels) * scale).rounded(.toNearestOrAwayFromZero)))
  }
  return (side(width), side(height))
}

extension ColorImage {
  /// The picture at another size; each pixel is the mean of those that it covers.
  fileprivate func scaled(width: Int, height: Int) -> ColorImage {
    /// The old pixels that new pixel `index` of `count` covers, at least one.
    func source(_ index: Int, of count: Int, in oldCount: Int) -> Range<Int> {
      let first = index * oldCount / count
      return first..<max(first + 1, (index + 1) * oldCount / count)
    }
    var scaled: [UInt8] = []
    scaled.reserveCapacity(width * height * 3)
    for row in 0..<height {
      let rows = source(row, of: height, in: self.height)
      for column in 0..<width {
        let columns = source(column, of: width, in: self.width)
        for channel in 0..<3 {
          var sum = 0
          for y in rows {
            for x in columns { sum += Int(rgb[(y * self.width + x) * 3 + channel]) }
          }
          scaled.append(UInt8(sum / (rows.count * columns.count)))
        }
      }
    }
    return ColorImage(width: width, height: height, rgb: scaled)
  }
}
