import Core
import Media
import SystemPackage

/// The content of all files of one capture, each read for itself.
struct StrayScannerTables: Sendable {
  let files: StrayScannerFiles
  let color: StreamState<CaptureVideo>
  let depth: StreamState<PictureFiles<UInt16>>
  let confidence: StreamState<PictureFiles<UInt8>>
  /// Absent without the file, and for one without rows.
  let odometry: StreamState<StrayScannerOdometry>
  /// Whether `odometry.csv` ends inside a line, also if it has no rows.
  let isOdometryCut: Bool
  /// Absent without the file, and for one without rows.
  let motion: StreamState<StrayScannerMotion>
  let isMotionCut: Bool
  /// The camera matrix, which belongs to the last frame.
  let matrix: Intrinsics?
  let generation: StrayScannerGeneration

  init(_ files: StrayScannerFiles) {
    self.files = files
    let (rowName, motionName) = (StrayScannerFiles.odometryName, StrayScannerFiles.motionName)
    let table = Self.read(rowName, files, try StrayScannerOdometry(files.path(rowName)))
    // Names and rows together tell how large a number can be.
    let records =
      (files.depth.value?.files.files.count ?? 0) + (files.confidence.value?.files.files.count ?? 0)
      + (table.value?.rows.count ?? 0)
    let most = FrameNumberLimit.of(records: records)
    depth = files.depth.map { .depth($0.files.believing(upTo: most), in: $0.folder) }
    confidence = files.confidence.map { .confidence($0.files.believing(upTo: most), in: $0.folder) }
    isOdometryCut = table.value?.isCut ?? false
    let video = Self.video(files)
    odometry = table.havingRows("\(rowName) has no rows") { odometry in
      odometry.believe(upTo: most)
      if odometry.isEarly { odometry.takeTimes(ofPictures: video.value?.pictureNanoseconds ?? []) }
      return !odometry.rows.isEmpty
    }
    let motion = Self.read(motionName, files, try StrayScannerMotion(files.path(motionName)))
    isMotionCut = motion.value?.isCut ?? false
    self.motion = motion.havingRows("\(motionName) has no rows") {
      !$0.rows.isEmpty
    }
    matrix =
      files.contains(StrayScannerFiles.matrixName)
      ? Intrinsics(strayScanner: files.path(StrayScannerFiles.matrixName)) : nil
    generation = StrayScannerGeneration(
      isEarly: table.value?.isEarly ?? false, hasIntrinsicsColumns: files.hasIntrinsicsColumns,
      hasArrays: files.hasArrays,
      isMotionInGravities: motion.value?.isInGravities ?? false)
    color = video
  }

  private static func video(_ files: StrayScannerFiles) -> StreamState<CaptureVideo> {
    let name = StrayScannerFiles.videoName
    guard files.contains(name) else { return .absent("no \(name)") }
    return StreamState(try movie(files.path(name)))
  }

  private static func movie(_ path: FilePath) throws(CaptureError) -> CaptureVideo {
    guard let video = try CaptureVideo(path, ignoresEditList: true) else {
      throw CaptureError(file: path, problem: "it has no video track")
    }
    return video
  }

  private static func read<Table>(
    _ name: String, _ files: StrayScannerFiles,
    _ table: @autoclosure () throws(CaptureError) -> Table
  ) -> StreamState<Table> {
    files.contains(name) ? StreamState(try table()) : .absent("no \(name)")
  }
}

extension StreamState {
  /// Absent if `body` finds no rows in the value.
  fileprivate func havingRows(_ why: String, _ body: (inout Value) -> Bool) -> StreamState {
    guard case .present(var value) = self else { return self }
    return body(&value) ? .present(value) : .absent(why)
  }
}

/// The color camera's intrinsics, pixels of the video.
extension Intrinsics {
  /// The camera matrix in a CSV file, row by row.
  init?(strayScanner path: FilePath) {
    guard var scanner = try? CSVScanner(path) else { return nil }
    var rows: [[Double]] = []
    while rows.count < 3, (try? scanner.nextLine()) == true {
      let cells = (0..<scanner.cellCount).map { scanner.number(inCell: $0).value }
      guard cells.count == 3 || rows.count == 2 else { return nil }
      let numbers = cells.compactMap(\.self)
      guard numbers.count == cells.count || rows.count == 2 else { return nil }
      rows.append(numbers)
    }
    guard rows.count == 3 else { return nil }
    self.init(usable: [rows[0][0], rows[1][1], rows[0][2], rows[1][2]])
  }
}

/// The files of a capture's folder by role. Listed, not opened.
struct StrayScannerFiles: Sendable {
  static let videoName = "rgb.mp4"
  static let odometryName = PoseTable.name
  static let motionName = "imu.csv"
  static let matrixName = "camera_matrix.csv"
  static let depthName = "depth"
  static let confidenceName = "confidence"
  private static let arrayEnding = "npy"

  /// A subfolder with one picture per frame.
  struct Pictures: Sendable {
    let folder: FilePath
    var files: NumberedFiles
    /// Number of pictures that are links out of the capture; not followed.
    let outside: Int
  }

  let folder: FilePath
  private let listing: FolderListing
  /// Absent without a subfolder, and for one without pictures.
  let depth: StreamState<Pictures>
  let confidence: StreamState<Pictures>

  init(_ folder: FilePath) throws(CaptureError) {
    self.folder = folder
    listing = try CaptureError.listing(folder)
    // The PNG counts if a frame has two depth files.
    depth = Self.pictures(Self.depthName, ["png", Self.arrayEnding], listing)
    confidence = Self.pictures(Self.confidenceName, ["png"], listing)
  }

  func contains(_ name: String) -> Bool { listing.contains(name) }
  func path(_ name: String) -> FilePath { folder.appending(name: name) }
  func existing(_ names: [String]) -> [FilePath] { names.filter(contains).map(path) }

  /// Whether any depth file is a NumPy array.
  var hasArrays: Bool {
    depth.value?.files.files.contains { $0.name.lowercased().hasSuffix("." + Self.arrayEnding) }
      ?? false
  }

  /// Whether the header of `odometry.csv` has a column for the focal length, also where the rows
  /// cannot be read.
  var hasIntrinsicsColumns: Bool {
    RowTable.columns(of: Self.odometryName, in: listing).contains("fx")
  }

  /// Names with a role that are links out of the capture.
  var outside: [String] {
    listing.outside.filter {
      [
        Self.videoName, Self.odometryName, Self.motionName, Self.matrixName, Self.depthName,
        Self.confidenceName,
      ].contains($0)
    }
  }

  private static func pictures(
    _ name: String, _ endings: [String], _ listing: FolderListing
  ) -> StreamState<Pictures> {
    guard listing.subfolders.contains(name) else { return .absent("no folder \(name)") }
    let folder = listing.folder.appending(name: name)
    do throws(FileError) {
      let inner = try FolderListing(of: folder, inside: listing.folder)
      let files = NumberedFiles(inner.files, endings: endings)
      let outside = NumberedFiles(inner.outside, endings: endings).files.count
      if files.isEmpty, outside == 0 { return .absent("the folder \(name) has no pictures") }
      return .present(Pictures(folder: folder, files: files, outside: outside))
    } catch {
      return .unreadable(CaptureError(error, of: folder))
    }
  }
}
