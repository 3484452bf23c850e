import Core
import SystemPackage

/// The pictures of a session, before they are joined with the rows of the frame table.
enum VISLAMPictures {
  /// No video and no stills.
  case none
  /// A video exists but cannot be read.
  case unreadable(CaptureError)
  case video(CaptureVideo)
  /// Stills that the rows name; `nil` if a row has none.
  case named([FilePath?])
  /// Stills sorted by name; no row names them.
  case unnamed([FilePath])

  /// Chooses the pictures and reports those that are missing, unused or outside the folder.
  init(_ folder: VISLAMFiles, _ table: VISLAMFrameTable?, _ warnings: WarningCollector) {
    let movies = folder.movies
    if let table, table.hasImageNames {
      let stills = Self.named(folder, table, warnings)
      if movies.isEmpty, !folder.hasStillsFolder, stills.allSatisfy({ $0 == nil }) {
        warnings.add(.missingFile, "video", "no video and no folder of stills")
        self = .none
        return
      }
      if movies.isEmpty || stills.contains(where: { $0 != nil }) {
        warnings.add(
          .multipleStreams, "video", count: movies.count, "videos beside the stills; not used")
        self = .named(stills)
        return
      }
    }
    guard let movie = Self.best(movies, folder, rowCount: table?.rows.count ?? 0) else {
      let stills: [FilePath]
      do throws(FileError) {
        stills = try folder.stills()
      } catch {
        self = .unreadable(
          CaptureError(reasonOf: error, at: error.path))
        return
      }
      warnings.add(
        .pathOutsideCapture, VISLAMFiles.stillsFolder, count: folder.outsideStillCount,
        "pictures that are links out of the capture's folder; not followed")
      if stills.isEmpty { warnings.add(.missingFile, "video", "no video and no folder of stills") }
      self = stills.isEmpty ? .none : .unnamed(stills)
      return
    }
    warnings.add(
      .multipleStreams, "video", count: movies.count - 1,
      "other videos than \(movie.name); not used")
    switch movie.video {
    case .success(let video): self = .video(video)
    case .failure(let error): self = .unreadable(error)
    }
  }

  private typealias Movie = (name: String, video: Result<CaptureVideo, CaptureError>)

  /// `video.*` if it exists, else the movie with the frame count nearest to the number of rows.
  private static func best(_ names: [String], _ folder: VISLAMFiles, rowCount: Int) -> Movie? {
    let usual = names.filter { FilePath($0).stem?.lowercased() == "video" }
    let candidates = (usual.isEmpty ? names : usual).map { name -> Movie in
      let video = Result { () throws(CaptureError) -> CaptureVideo in
        let path = folder.file(name)
        guard let video = try CaptureVideo(path, statedCounts: rowCount > 0 ? [rowCount] : [])
        else {
          throw CaptureError(file: path, problem: "it has no video track")
        }
        return video
      }
      return (name, video)
    }
    // Without rows the longest video is chosen.
    func distance(_ movie: Movie) -> Int {
      guard case .success(let video) = movie.video else { return .max }
      return rowCount == 0 ? -video.pictureCount : abs(video.pictureCount - rowCount)
    }
    return candidates.min { distance($0) < distance($1) }
  }

  private static func named(
    _ folder: VISLAMFiles, _ table: VISLAMFrameTable, _ warnings: WarningCollector
  ) -> [FilePath?] {
    var missing = 0
    var outside = 0
    let stills = table.rows.map { row -> FilePath? in
      guard let name = row.imageName else { return nil }
      switch folder.location(of: name) {
      case .found(let path): return path
      case .missing: missing += 1
      case .outside: outside += 1
      }
      return nil
    }
    // If there are no stills at all, another warning is given.
    let hasStills = stills.contains { $0 != nil }
    if hasStills || (folder.movies.isEmpty && folder.hasStillsFolder) {
      warnings.add(
        .missingFile, table.file, count: missing, "pictures that rows name but that are missing")
    }
    warnings.add(
      .pathOutsideCapture, table.file, count: outside,
      "rows that name a picture outside the capture's folder; not followed")
    return stills
  }
}
