import FoundationEssentials
import Geometry
import Storage
import SystemPackage

/// The points of a capture's geo data in callback order, damaged and stale ones left out.
struct StraboGeoLog {
  /// Points of this recording may run past its end; older ones lie further behind.
  private static let endToleranceNanoseconds: Int64 = 1_000_000_000

  var track = GeoTrack()
  /// Distinct times, in order.
  private(set) var times: [Timestamp] = []

  /// The log of a capture without geo data.
  init(withoutFile warnings: WarningCollector) {
    self.init()
    Self.reportNoPoints(warnings)
  }

  private init() {}

  /// Reads the points of `path`. `mediaNanoseconds` = the media's duration, 0 for a still, `nil` when
  /// it is unknown: then no point is taken for stale. Throws for a file that is no JSON or has no
  /// list of points.
  init(_ path: FilePath, mediaNanoseconds: Int64?, warnings: WarningCollector) throws(CaptureError)
  {
    let written = try Self.points(of: path)
    var points = written.compactMap(\.point)
    warnings.add(
      .corruptRecord, "geo", count: written.count - points.count,
      "points without usable time or coordinates")
    let steps = zip(points.dropFirst(), points).map { $0.timestamp - $1.timestamp }
    warnings.add(
      .geoUnordered, "geo", count: steps.count { $0 < 0 },
      "points go back in time; they were sorted")
    if let mediaNanoseconds { Self.dropStale(&points, after: mediaNanoseconds) }
    self.init()
    guard !points.isEmpty else {
      Self.reportNoPoints(warnings)
      return
    }
    times = Set(points.map(\.timestamp)).sorted()
    warnings.add(
      .timestampsDuplicate, "geo", count: points.count - times.count,
      "points at a time that another point has; the last in the file counts")
    track.positions = points.compactMap(\.position)
    track.headings = points.compactMap(\.trueHeading)
    warnings.add(
      .geoNoFix, "geo", count: points.count - track.positions.count, "points without valid position"
    )
  }

  private static func reportNoPoints(_ warnings: WarningCollector) {
    warnings.add(.geoNoFix, "geo", "no points: the capture's own position and heading are held")
  }

  /// Points before the recording's first one, left over from an earlier recording.
  private static func dropStale(_ points: inout [StraboPoint], after mediaNanoseconds: Int64) {
    guard let first = points.firstIndex(where: { $0.timestamp.nanoseconds == 0 }) else { return }
    let end = Timestamp(nanoseconds: mediaNanoseconds)
      .advanced(byNanoseconds: endToleranceNanoseconds)
    points = points[..<first].filter { $0.timestamp <= end } + points[first...]
  }

  private static func points(of path: FilePath) throws(CaptureError) -> [StraboPoint.Written] {
    do {
      // Hours of points take some megabytes.
      let bytes = try InputFile(path).whole(limit: InputLimits.bytesOfJSON)
      return try BoundedJSON.decode(Content.self, from: bytes, of: path).points
    } catch let error as FileError {
      throw CaptureError(
        file: path, problem: "cannot \(error.operation): \(error.reason)", remedy: error.remedy)
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
