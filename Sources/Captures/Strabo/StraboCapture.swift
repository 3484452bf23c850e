import Media
import Core
import SystemPackage

/// Builds one capture of the recorder.
struct StraboCapture {
  private let folder: FilePath
  private let id: String
  private let files: StraboFiles
  private let tables: StraboTables
  let warnings = WarningCollector()

  init(_ recognition: Recognition) throws(CaptureError) {
    folder = recognition.folder
    id = recognition.id
    let info = try StraboTables.info(folder, warnings)
    files = StraboFiles(folder, info, warnings)
    tables = StraboTables(info, files, warnings)
  }

  private var info: StraboInfo { tables.info }

  func capture() throws(CaptureError) -> Capture {
    let media = media()
    var capture = Capture(
      id: id, family: .strabo, generation: info.generation, folder: folder,
      clock: CaptureClock(.recordingStart, unit: "s"))
    capture.scene.label = info.title
    capture.recordedAt = recordedAt(media)
    capture.frames = StraboFrames(media.value).frames
    capture.color = color(media)
    capture.geo = tables.geo(media.value)
    capture.hasThumbnail = files.media != nil
    if let thumbnail = files.thumbnail, let media = media.value {
      StraboThumbnail.check(thumbnail, media, warnings)
    }
    let description = folder.appending(StraboInfo.file)
    capture.files[.color] = [files.media].compactMap { $0 }
    capture.files[.frames] = [files.media].compactMap { $0 }
    // The media's length determines which points are stale.
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

  /// The app records the time when it has moved the files to their place: for a movie its end.
  private func recordedAt(_ media: StreamState<StraboMedia>) -> String? {
    guard let createdAt = info.createdAt else { return nil }
    var seconds = createdAt
    switch media {
    case .present(let media): seconds -= Double(media.durationNanoseconds) / 1e9
    case .absent, .unreadable: if info.mediaType != .image { return nil }
    }
    return UTCText.text(seconds: Int64(seconds.rounded(.down)))
  }

  private func completeness(_ media: StreamState<StraboMedia>) -> UploadCompleteness {
    var missing: [String] = []
    switch media {
    case .absent(let why): missing.append(why)
    case .unreadable(let error): missing.append("the media file cannot be read: \(error.problem)")
    case .present(.movie(let movie)) where movie.video.endsEarly: missing.append("the movie is cut")
    case .present: break
    }
    if files.geo == nil, files.problems[.geo] == nil { missing.append("no geo data") }
    if files.thumbnail == nil, files.problems[.thumbnail] == nil { missing.append("no thumbnail") }
    return UploadCompleteness(missing: missing, absentFiles: files.absentNames)
  }
}
