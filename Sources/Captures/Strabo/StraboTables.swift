import Media
import Core
import SystemPackage

/// The side files of a capture: its description and its log of positions. The log is read once, on
/// request, because reading it adds warnings.
struct StraboTables {
  let info: StraboInfo
  private let files: StraboFiles
  private let warnings: WarningCollector

  /// Reads the description, which names the other files. Throws when it is not a JSON object.
  static func info(
    _ folder: FilePath, _ warnings: WarningCollector
  ) throws(CaptureError) -> StraboInfo {
    let info = try StraboInfo(folder)
    warnings.add(
      .unknownKey, StraboInfo.file, count: info.unknownKeys.count,
      "unknown keys: \(info.unknownKeys.prefix(8).joined(separator: ", "))")
    warnings.add(
      .missingKey, StraboInfo.file, count: info.missingKeys.count,
      "missing keys: \(info.missingKeys.joined(separator: ", "))")
    return info
  }

  init(_ info: StraboInfo, _ files: StraboFiles, _ warnings: WarningCollector) {
    self.info = info
    self.files = files
    self.warnings = warnings
  }

  func geo(_ media: StraboMedia?) -> StreamState<GeoStream> {
    do throws(CaptureError) {
      var log: StraboGeoLog
      if let problem = files.problems[.geo], files.geo == nil { throw problem }
      if let path = files.geo {
        log = try StraboGeoLog(
          path, mediaNanoseconds: media?.durationNanoseconds, warnings: warnings)
      } else {
        log = StraboGeoLog(withoutFile: warnings)
      }
      log.track.heldLatitude = info.coordinates?.latitude
      log.track.heldLongitude = info.coordinates?.longitude
      log.track.heldHeading = info.heading
      var description = StreamDescription(
        file: files.geo?.shownName ?? StraboInfo.file, encoding: "json",
        frames: log.times.count)
      description.firstTimestamp = log.times.first
      description.lastTimestamp = log.times.last
      description.rateHz = TimeSteps(log.times).rateHz
      if case .movie(let movie) = media, !log.times.isEmpty { reportHidden(movie) }
      return .present(
        GeoStream(
          description: description, track: log.track, coverage: .everyFrame, isCut: log.isCut))
    } catch {
      return .unreadable(error)
    }
  }

  /// Warns of hidden pictures: the log counts from the beginning of the recording, pictures from
  /// the first displayed one.
  private func reportHidden(_ movie: StraboMovie) {
    let hidden = movie.track.hidden
    warnings.add(
      .pairingApproximate, "geo", count: hidden.before > 0 ? movie.times.count : 0,
      "the movie's edit list hides its first \(hidden.before) pictures "
        + "(\(HiddenStart.milliseconds(hidden.nanoseconds)) ms): if the log begins with them, positions are off "
        + "by as much")
  }
}
