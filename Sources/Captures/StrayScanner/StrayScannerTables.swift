import Media
import Core
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
  let matrix: StrayScannerIntrinsics?
  let generation: StrayScannerGeneration

  init(_ files: StrayScannerFiles) {
    self.files = files
    let table = Self.odometry(files)
    // Names and rows together tell how large a number can be.
    let records =
      (files.depth.value?.files.files.count ?? 0) + (files.confidence.value?.files.files.count ?? 0)
      + (table.value?.rows.count ?? 0)
    let most = FrameNumberLimit.of(records: records)
    depth = files.depth.map { .depth($0.files.believing(upTo: most), in: $0.folder) }
    confidence = files.confidence.map { .confidence($0.files.believing(upTo: most), in: $0.folder) }
    isOdometryCut = table.value?.isCut ?? false
    let video = Self.video(files)
    odometry = table.havingRows("\(StrayScannerFiles.odometryName) has no rows") { odometry in
      odometry.believe(upTo: most)
      if odometry.isEarly { odometry.takeTimes(ofPictures: video.value?.pictureNanoseconds ?? []) }
      return !odometry.rows.isEmpty
    }
    let motion = Self.motion(files)
    isMotionCut = motion.value?.isCut ?? false
    self.motion = motion.havingRows("\(StrayScannerFiles.motionName) has no rows") {
      !$0.rows.isEmpty
    }
    matrix =
      files.contains(StrayScannerFiles.matrixName)
      ? StrayScannerIntrinsics(matrix: files.path(StrayScannerFiles.matrixName)) : nil
    generation = StrayScannerGeneration(
      isEarly: table.value?.isEarly ?? false, hasIntrinsicsColumns: files.hasIntrinsicsColumns,
      hasArrays: files.hasArrays,
      isMotionInGravities: motion.value?.isInGravities ?? false)
    color = video
  }

  private static func video(_ files: StrayScannerFiles) -> StreamState<CaptureVideo> {
    let name = StrayScannerFiles.videoName
    guard files.contains(name) else { return .absent("no \(name)") }
    do throws(CaptureError) {
      guard let video = try CaptureVideo(files.path(name), ignoresEditList: true) else {
        throw CaptureError(file: files.path(name), problem: "it has no video track")
      }
      return .present(video)
    } catch {
      return .unreadable(error)
    }
  }

  private static func odometry(_ files: StrayScannerFiles) -> StreamState<StrayScannerOdometry> {
    read(StrayScannerFiles.odometryName, files) { path throws(CaptureError) in
      try StrayScannerOdometry(path)
    }
  }

  private static func motion(_ files: StrayScannerFiles) -> StreamState<StrayScannerMotion> {
    read(StrayScannerFiles.motionName, files) { path throws(CaptureError) in
      try StrayScannerMotion(path)
    }
  }

  private static func read<Table>(
    _ name: String, _ files: StrayScannerFiles, _ body: (FilePath) throws(CaptureError) -> Table
  ) -> StreamState<Table> {
    guard files.contains(name) else { return .absent("no \(name)") }
    do throws(CaptureError) {
      return .present(try body(files.path(name)))
    } catch {
      return .unreadable(error)
    }
  }
}

extension StreamState {
  /// Absent if `body` finds no rows in the value.
  fileprivate func havingRows(_ why: String, _ body: (inout Value) -> Bool) -> StreamState {
    guard case .present(var value) = self else { return self }
    return body(&value) ? .present(value) : .absent(why)
  }
}
