import Core
import SystemPackage

/// The pictures of a session, before they are joined with the rows of the frame table.
enum VISLAMPictures {
  /// No video and no stills.
  case none
  /// A video exists but cannot be read.
  case unreadable(CaptureError)
  case video(CaptureVideo)
  case stills(VISLAMStills)

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
        self = .stills(VISLAMStills(ofRows: stills))
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
      self =
        stills.isEmpty ? .none : .stills(VISLAMStills(stills, of: table?.rows ?? [], warnings))
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

/// Pictures of one file each and the rows that they belong to.
struct VISLAMStills {
  /// The still of each row; `nil` for a row without one.
  private(set) var ofRows: [FilePath?]
  /// Stills without a row, whose frames follow all others.
  private(set) var surplus: [FilePath] = []
  private(set) var way = StreamPairing.Way.number
  private(set) var isDoubtful = false

  /// In the order of their frames.
  var all: [FilePath] { ofRows.compactMap(\.self) + surplus }
}

extension VISLAMStills {
  /// Stills whose names end with numbers belong to the rows with these frame numbers, or of these times. Where the
  /// numbers of both begin differently, the difference counts with which most have a row. Other stills are given to
  /// rows by their order.
  init(_ stills: [FilePath], of rows: [VISLAMFrameTable.Row], _ warnings: WarningCollector) {
    let numbers = stills.compactMap { still -> Int? in
      let digits = (still.stem ?? "").reversed().prefix { $0.isASCII && $0.isNumber }
      return Int(String(digits.reversed()))
    }
    let areNumbered = Set(numbers).count == stills.count
    let sorted = areNumbered ? zip(numbers, stills).sorted { $0.0 < $1.0 }.map(\.1) : stills
    ofRows = rows.indices.map { $0 < sorted.count ? sorted[$0] : nil }
    surplus = Array(sorted.dropFirst(rows.count))
    way = .rank
    isDoubtful = stills.count != rows.count
    guard !rows.isEmpty else { return }
    if areNumbered, let (found, offset) = Self.byNumber(numbers.sorted(), sorted, rows) {
      if stills.count == rows.count, found.ofRows == ofRows { return }
      self = found
      isDoubtful = offset != 0
      let missing = ofRows.indices.filter { ofRows[$0] == nil }
      warnings.add(
        .frameCountMismatch, "video", count: missing.count + surplus.count,
        "\(stills.count) stills, \(rows.count) rows"
          + (isDoubtful ? "" : LossWords.without(missing)))
      warnings.add(
        .pairingApproximate, "video", count: isDoubtful ? stills.count : 0,
        "the numbers of the stills are \(abs(offset)) \(offset < 0 ? "above" : "below") those of the rows where most "
          + "have a row; they \(LossWords.shifted(offset))")
      return
    }
    let difference = abs(stills.count - rows.count)
    warnings.add(
      .frameCountMismatch, "video", count: difference,
      "rows without a still, or stills without a row")
    warnings.add(
      .pairingApproximate, "video", count: difference > 0 ? stills.count : 0,
      "stills were given to rows by their order alone and \(LossWords.shifted(difference))")
  }

  /// The pairing with which most stills have a row, and what was added to their numbers; `nil` if that is less than
  /// half of what could have one.
  private static func byNumber(
    _ numbers: [Int], _ stills: [FilePath], _ rows: [VISLAMFrameTable.Row]
  ) -> (found: VISLAMStills, offset: Int)? {
    var best: (found: VISLAMStills, offset: Int)?
    let known = rows.compactMap(\.number)
    let ends = zip([known.first, known.last], [numbers.first, numbers.last])
    // Numbers below 0 are none of a still.
    let offsets =
      [0]
      + ends.compactMap { row, still -> Int? in
        guard let row, let still, row >= 0 else { return nil }
        return row - still
      }
    let times: [Int?] = rows.map { Int($0.timestamp.nanoseconds) }
    for (keys, offsets) in [(rows.map(\.number), offsets), (times, [0])] {
      let places = Dictionary(zip(keys, 0...)) { first, _ in first }
      for offset in offsets {
        var found = VISLAMStills(ofRows: rows.map { _ in nil })
        for (number, still) in zip(numbers, stills) {
          if let row = places[number &+ offset] {
            found.ofRows[row] = still
          } else {
            found.surplus.append(still)
          }
        }
        if found.surplus.count < best?.found.surplus.count ?? stills.count {
          best = (found, offset)
        }
      }
    }
    guard let best, 2 * (stills.count - best.found.surplus.count) > min(stills.count, rows.count)
    else { return nil }
    return best
  }
}
