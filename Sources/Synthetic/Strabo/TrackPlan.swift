import Core

/// What a Strabo capture contains in addition to pictures.
struct TrackPlan: SyntheticPlan {
  let form: StraboFamily
  let frames: Int

  /// Clockwise quarter turns that make the stored picture upright.
  var clockwiseQuarterTurns = 1
  var hasMedia = true
  var hasGeodata = true
  var hasThumbnail = true
  /// The media file has no bytes.
  var hasEmptyMedia = false
  /// All paths lead out of the folder.
  var hasBadPaths = false
  /// The app's thumbnail is too large.
  var hasLargeThumbnail = false

  // Geo data
  var hasNoPoints = false
  /// Number of points at the start without a fix.
  var pointsWithoutFix = 0
  /// Whether the first point belongs to an earlier recording.
  var hasStalePoint = false
  var swapsPoints = false
  var repeatsPointTime = false
  /// Headings of some points are invalid.
  var hasInvalidHeadings = false
  /// Whether the track crosses north and the date line.
  var crossesNorth = false
  var isBrokenJSON = false

  // Info
  var hasUnknownKey = false
  var lacksMediaType = false
  var lacksCreationTime = false

  init(form: StraboFamily, frames: Int) {
    self.form = form
    self.frames = form.isStill ? 1 : frames
  }

  var hasDepthCamera: Bool { false }
  var canonicalFrames: Int { pictures }
  var pictures: Int { hasMedia && !hasEmptyMedia ? frames : 0 }
}

extension StraboFamily {
  static let plannedFaults: [Fault] = points + files + info

  private static let points =
    [
      Fault("no-points", "points", "the list of points is empty", \.hasNoPoints, true)
    ] + walk + [
      Fault(
        "north", "place", "headings swing across north, longitude crosses 180; no warning",
        \.crossesNorth, true),
      Fault("broken-points", "points", "the geo data are no JSON", \.isBrokenJSON, true),
    ]

  private static let walk = [
    Fault(
      "no-fix", "points", "the first three points have no position", \.pointsWithoutFix, 3),
    Fault(
      "stale-point", "first point", "a point of an earlier recording stands first", \.hasStalePoint,
      true),
    Fault(
      "swapped-points", "point order", "two neighboring points are exchanged", \.swapsPoints, true),
    Fault(
      "repeated-time", "point times", "two points have the same time", \.repeatsPointTime, true),
    Fault(
      "invalid-headings", "headings", "some headings are negative or above 360; no warning",
      \.hasInvalidHeadings, true),
  ].only(in: { !$0.isStill })

  private static let files = [
    Fault(
      "bad-paths", "paths", "all three file keys lead outside the capture", \.hasBadPaths, true),
    Fault("missing-media", "media", "no movie or picture", \.hasMedia, false),
    Fault("empty-media", "media", "the movie or picture has no bytes", \.hasEmptyMedia, true),
    Fault("missing-points", "points", "no geo data file", \.hasGeodata, false),
    Fault("missing-thumbnail", "thumbnail", "no thumbnail", \.hasThumbnail, false),
    Fault(
      "large-thumbnail", "thumbnail", "the app's thumbnail is too large", \.hasLargeThumbnail, true,
      in: { !$0.isStill }),
    Fault(
      "half-turn", "turn", "the movie is turned by half a turn; no warning",
      \.clockwiseQuarterTurns, 2),
    Fault(
      "left-turn", "turn", "the movie is turned counter-clockwise; no warning",
      \.clockwiseQuarterTurns, 3),
    Fault("no-turn", "turn", "the movie is stored upright; no warning", \.clockwiseQuarterTurns, 0),
  ]

  private static let info = [
    Fault(
      "unknown-key", "keys", "capture-info.json holds a key that nobody knows", \.hasUnknownKey,
      true),
    Fault("missing-type", "keys", "capture-info.json lacks media_type", \.lacksMediaType, true),
    Fault(
      "missing-time", "time", "capture-info.json lacks created_at; no warning", \.lacksCreationTime,
      true),
  ]
}

/// One entry of the geo data, as it is stored.
struct TrackPoint {
  /// Seconds since the recording began.
  var seconds: Double
  /// Degrees; 0, 0 with accuracy 0 means no fix.
  var latitude: Double
  var longitude: Double
  /// Meters.
  var accuracy: Double
  /// Degrees from true north; negative or above 360 = invalid.
  var heading: Double

  var hasFix: Bool { !(latitude == 0 && longitude == 0 && accuracy == 0) && accuracy >= 0 }
  var hasHeading: Bool { heading >= 0 && heading <= 360 }

  var json: JSONObject {
    [
      "timestamp": seconds, "accuracy": accuracy,
      "coords": [latitude, longitude], "heading": heading,
    ]
  }
}

/// The points of a walk: a fix about once a second, headings many times a second. Each point
/// repeats the last value of the other kind.
extension TrackPlan {
  /// Points up to two seconds after `duration`, as the recorder leaves them; a still has one.
  func points(duration: Double, seed: UInt64) -> [TrackPoint] {
    if hasNoPoints { return [] }
    var random = SeededRandom(seed: seed, "walk")
    let start: (latitude: Double, longitude: Double) =
      crossesNorth ? (-16.5, 179.99999) : (12.3456, -34.5678)
    let firstHeading = crossesNorth ? 2.0 : 99.4
    var points: [TrackPoint] = []
    var place = start
    var accuracy = 10.0
    var nextFix = random.uniform(0.3...0.9)
    var seconds = 0.0
    while points.isEmpty || (!form.isStill && seconds < duration + 2) {
      if seconds >= nextFix {
        // 1.2 m/s to the north-east; a degree has about 111 km.
        place.latitude = start.latitude + seconds * 0.85 / 111_000
        place.longitude = start.longitude + seconds * 0.85 / 108_000
        if place.longitude >= 180 { place.longitude -= 360 }
        accuracy = [10.0, 65, 10, 5][points.count % 4]
        nextFix += random.uniform(0.9...1.1)
      }
      let swing = 8 * Trigonometry.sine(seconds * 1.1) + random.gaussian() * 0.1
      var heading = firstHeading + (points.isEmpty ? 0 : swing)
      if heading < 0 { heading += 360 }
      points.append(
        TrackPoint(
          seconds: seconds, latitude: place.latitude, longitude: place.longitude,
          accuracy: accuracy, heading: heading))
      seconds += random.uniform(0.03...0.1)
    }
    spoil(&points)
    return points
  }

  private func spoil(_ points: inout [TrackPoint]) {
    guard points.count > 8 else { return }
    for index in 0..<pointsWithoutFix {
      points[index].latitude = 0
      points[index].longitude = 0
      points[index].accuracy = 0
    }
    if hasInvalidHeadings {
      points[2].heading = -1
      points[4].heading = 361
    }
    if repeatsPointTime { points[6].seconds = points[5].seconds }
    if swapsPoints { points.swapAt(7, 8) }
    if hasStalePoint {
      var stale = points[0]
      stale.seconds = 1234.5
      stale.heading = 10
      points.insert(stale, at: 0)
    }
  }
}
