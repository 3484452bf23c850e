import Core

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
