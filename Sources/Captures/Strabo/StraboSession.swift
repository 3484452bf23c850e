import Codecs
import FoundationEssentials
import Geometry
import Storage
import SystemPackage

/// One capture of the recorder on its way into the neutral model.
struct StraboSession {
  private let folder: FilePath
  private let id: String
  private let info: StraboInfo
  private let files: StraboFiles
  let warnings = WarningCollector()

  init(_ recognition: Recognition) throws(CaptureError) {
    folder = recognition.folder
    id = recognition.id
    info = try StraboInfo(folder)
    warnings.add(
      .unknownKey, StraboInfo.file, count: info.unknownKeys.count,
      "unknown keys: \(info.unknownKeys.prefix(8).joined(separator: ", "))")
    warnings.add(
      .missingKey, StraboInfo.file, count: info.missingKeys.count,
      "missing keys: \(info.missingKeys.joined(separator: ", "))")
    files = StraboFiles(folder, info, warnings)
  }

  func capture() throws(CaptureError) -> Capture {
    let media = media()
    var capture = Capture(
      id: id, family: .strabo, generation: info.generation, folder: folder,
      clock: CaptureClock(.recordingStart, unit: "s"))
    capture.scene.label = info.title
    capture.recordedAt = recordedAt(media)
    capture.frames = frames(media.value)
    capture.color = color(media)
    capture.geo = geo(media.value)
    capture.hasThumbnail = files.media != nil
    if let thumbnail = files.thumbnail, let media = media.value {
      StraboThumbnail.check(thumbnail, media, warnings)
    }
    let description = folder.appending(StraboInfo.file)
    capture.files[.color] = [files.media].compactMap { $0 }
    capture.files[.frames] = [files.media].compactMap { $0 }
    // The media's length decides which points are stale.
    capture.files[.geo] = [files.geo, description, files.media].compactMap { $0 }
    capture.files[.thumbnail] = [files.thumbnail].compactMap { $0 }
    if files.thumbnail == nil { capture.partProblems[.thumbnail] = files.problems[.thumbnail] }
    capture.completeness = completeness(media)
    capture.warnings = warnings.warnings
    claim(&capture, media.value)
    return capture
  }

  private func media() -> StreamState<StraboMedia> {
    guard let path = files.media else {
      return files.problems[.media].map { .unreadable($0) } ?? .absent("no movie and no still")
    }
    do throws(CaptureError) {
      return .present(try StraboMedia(path))
    } catch {
      return .unreadable(error)
    }
  }

  private func frames(_ media: StraboMedia?) -> [CaptureFrame] {
    switch media {
    case nil: []
    case .still:
      [
        CaptureFrame(
          timestamp: Timestamp(nanoseconds: 0), colorTimestamp: Timestamp(nanoseconds: 0))
      ]
    case .movie(let movie): movie.times.map { CaptureFrame(timestamp: $0, colorTimestamp: $0) }
    }
  }

  private func geo(_ media: StraboMedia?) -> StreamState<GeoStream> {
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

  /// The log counts from the beginning of the recording, pictures from the first one that is shown.
  private func reportHidden(_ movie: StraboMovie) {
    let hidden = movie.track.hidden
    warnings.add(
      .pairingApproximate, "geo", count: hidden.before > 0 ? movie.times.count : 0,
      "the movie's edit list hides its first \(hidden.before) pictures "
        + "(\(HiddenStart.milliseconds(hidden.nanoseconds)) ms): if the log begins with them, positions are off "
        + "by as much")
  }

  /// The app notes the time when it has put the files in place: for a movie its end.
  private func recordedAt(_ media: StreamState<StraboMedia>) -> String? {
    guard let createdAt = info.createdAt else { return nil }
    var seconds = createdAt
    switch media {
    case .present(let media): seconds -= Double(media.durationNanoseconds) / 1e9
    case .absent, .unreadable: if info.mediaType != .image { return nil }
    }
    return Date(timeIntervalSince1970: seconds.rounded(.down)).formatted(.iso8601)
  }

  private func completeness(_ media: StreamState<StraboMedia>) -> UploadCompleteness {
    var missing: [String] = []
    switch media {
    case .absent(let why): missing.append(why)
    case .unreadable(let error): missing.append("the media file cannot be read: \(error.problem)")
    case .present(.movie(let movie)) where movie.endsEarly: missing.append("the movie is cut")
    case .present: break
    }
    if files.geo == nil, files.problems[.geo] == nil { missing.append("no geo data") }
    if files.thumbnail == nil, files.problems[.thumbnail] == nil { missing.append("no thumbnail") }
    return UploadCompleteness(missing: missing, absentFiles: files.absentNames)
  }
}
