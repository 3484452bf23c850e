import Core
import FoundationEssentials
import SystemPackage

/// The points of a capture's geo data in the order of recording, without damaged and stale ones.
struct StraboGeoLog {
  /// Points of this recording may be up to this much after its end; points of an earlier one are
  /// later.
  private static let endToleranceNanoseconds: Int64 = 1_000_000_000

  var track = GeoTrack()
  /// Distinct times, ascending.
  private(set) var times: [Timestamp] = []
  /// Whether the file is cut.
  private(set) var isCut = false

  /// The log of a capture without geo data.
  init(withoutFile warnings: WarningCollector) {
    self.init()
    Self.reportNoPoints(warnings)
  }

  private init() {}

  /// Reads the points of `path`. `mediaNanoseconds` is the media's duration, 0 for a still, `nil`
  /// when unknown, in which case no point is stale. Throws for a file that is not JSON or has no
  /// list of points.
  init(_ path: FilePath, mediaNanoseconds: Int64?, warnings: WarningCollector) throws(CaptureError)
  {
    let (written, isCut) = try Self.points(of: path)
    if isCut {
      warnings.add(
        .truncatedStream, "geo",
        "\(path.lastComponent?.string ?? "the geo data") breaks off: its complete points are used")
    }
    var points = written.compactMap(\.point)
    let isStale = Self.stale(points, after: mediaNanoseconds)
    let bounds = TimeBounds(zip(points, isStale).lazy.filter { !$0.1 }.map(\.0.timestamp))
    let isKept = zip(points, isStale).map { $1 || bounds.contains($0.timestamp) }
    let near = zip(points, isKept).filter(\.1).map(\.0)
    warnings.add(
      .corruptRecord, "geo", count: written.count - near.count,
      "points without usable time or coordinates, or more than an hour away from all others")
    let steps = zip(near.dropFirst(), near).map { $0.timestamp - $1.timestamp }
    warnings.add(
      .geoUnordered, "geo", count: steps.count { $0 < 0 },
      "points that go back in time; they were sorted")
    points = zip(points, zip(isStale, isKept)).filter { !$1.0 && $1.1 }.map(\.0)
    self.init()
    self.isCut = isCut
    guard !points.isEmpty else {
      Self.reportNoPoints(warnings)
      return
    }
    times = Set(points.map(\.timestamp)).sorted()
    warnings.add(
      .timestampsDuplicate, "geo", count: points.count - times.count,
      "points at the same time as another point; the last one in the file is used")
    track.positions = points.compactMap(\.position)
    track.headings = points.compactMap(\.trueHeading)
    warnings.add(
      .geoNoFix, "geo", count: points.count - track.positions.count, "points without valid position"
    )
  }

  private static func reportNoPoints(_ warnings: WarningCollector) {
    warnings.add(.geoNoFix, "geo", "no points: the capture's own position and heading are held")
  }

  /// For each point, whether it is left over from an earlier recording: it precedes the recording's
  /// first point and its time is after the recording's end. Always false if the media's duration is
  /// unknown.
  private static func stale(_ points: [StraboPoint], after mediaNanoseconds: Int64?) -> [Bool] {
    guard let mediaNanoseconds,
      let first = points.firstIndex(where: { $0.timestamp.nanoseconds == 0 })
    else { return points.map { _ in false } }
    let end = Timestamp(nanoseconds: mediaNanoseconds)
      .advanced(byNanoseconds: endToleranceNanoseconds)
    return points.indices.map { $0 < first && points[$0].timestamp > end }
  }

  /// The points; of a cut file the complete ones.
  private static func points(
    of path: FilePath
  ) throws(CaptureError) -> (written: [StraboPoint.Written], isCut: Bool) {
    do {
      // Hours of points take some megabytes.
      let text = TextBytes.utf8(try InputFile(path).whole(limit: InputLimits.bytesOfJSON))
      do {
        return (try LooseJSON.decode(Content.self, from: text, of: path).points, false)
      } catch {
        guard let closed = LooseJSON.closed(Data(text), entriesAtDepth: 2),
          let content = try? LooseJSON.decode(Content.self, from: closed, of: path),
          !content.points.isEmpty
        else { throw error }
        return (content.points, true)
      }
    } catch let error as FileError {
      throw CaptureError(error, of: path)
    } catch {
      throw CaptureError(
        file: path, problem: "no JSON object with a list of points: \(StraboInfo.reason(error))",
        remedy: "copy the file again, or remove it to hold the capture's own position")
    }
  }

  private struct Content: Decodable {
    var points: [StraboPoint.Written]
  }
}

/// One entry of the geo data: an update of position or heading, which repeats the last value of the
/// other.
struct StraboPoint {
  /// Time since the recording's start.
  var timestamp: Timestamp
  var latitude: Double
  var longitude: Double
  /// Meters; negative if the position is invalid, `nil` = unknown.
  var accuracy: Double?
  /// Degrees as recorded; negative or above 360 if invalid, `nil` = unknown.
  var heading: Double?

  /// The position, unless it is invalid or means "no fix yet".
  var position: GeoPosition? {
    let isNoFix = latitude == 0 && longitude == 0 && accuracy == 0
    guard !isNoFix, (accuracy ?? 0) >= 0 else { return nil }
    return GeoPosition(
      timestamp: timestamp, latitude: latitude, longitude: longitude, accuracy: accuracy)
  }

  /// The heading in 0 ..< 360, unless it is invalid.
  var trueHeading: GeoHeading? {
    guard let heading, (0...360).contains(heading) else { return nil }
    return GeoHeading(timestamp: timestamp, degrees: heading == 360 ? 0 : heading)
  }

  /// An entry of the file, which may be any JSON value.
  struct Written: Decodable {
    /// `nil` without usable time or coordinates.
    let point: StraboPoint?

    private enum Key: String, CodingKey {
      case timestamp, accuracy, coords, heading
    }

    init(from decoder: any Decoder) throws {
      guard let values = try? decoder.container(keyedBy: Key.self),
        let timestamp = try? values.decode(Seconds.self, forKey: .timestamp).timestamp,
        let coordinates = try? values.decode(StraboValue.self, forKey: .coords).coordinates,
        abs(coordinates.latitude) <= 90, abs(coordinates.longitude) <= 180
      else {
        point = nil
        return
      }
      point = StraboPoint(
        timestamp: timestamp, latitude: coordinates.latitude, longitude: coordinates.longitude,
        accuracy: (try? values.decode(StraboValue.self, forKey: .accuracy))?.number,
        heading: (try? values.decode(StraboValue.self, forKey: .heading))?.number)
    }
  }

  private struct Seconds: Decodable {
    var timestamp: Timestamp?

    init(from decoder: any Decoder) throws {
      timestamp = StraboNumber.seconds(try decoder.singleValueContainer())
    }
  }
}
