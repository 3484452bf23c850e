import Media
import Core
import SystemPackage

/// The content of all files of one capture, each read for itself.
struct ThreeDScannerAppTables: Sendable {
  let files: ThreeDScannerAppFiles
  let color: ColorPictures
  let depth: PictureFiles<UInt16>
  let confidence: PictureFiles<UInt8>
  private let frameFiles: FrameFiles<ThreeDScannerAppFrameFile>
  /// Number of frame files, readable or not.
  let rowFileCount: Int
  /// `nil` without the file, and for one that cannot be read.
  let info: ThreeDScannerAppInfo?

  /// Cost: reads every frame file, and pictures until one of each kind is readable.
  init(_ files: ThreeDScannerAppFiles) {
    self.files = files
    color = ColorPictures(StoredPictureFiles(files[.color], in: files.folder))
    depth = .depth(files[.depth], in: files.folder)
    confidence = .confidence(files[.confidence], in: files.folder)
    rowFileCount = files[.frame].files.count
    info =
      files.hasInfo
      ? (try? Self.bytes(files.path(ThreeDScannerAppFiles.infoName)))
        .flatMap { JSONMembers(TextBytes.utf8($0)) }.map(ThreeDScannerAppInfo.init) : nil
    var frameFiles = FrameFiles(files[.frame], in: files.folder, ThreeDScannerAppFrameFile.init)
    // A frame file whose time is far away from all others is damaged.
    let bounds = TimeBounds(frameFiles.values.values.lazy.compactMap(\.time))
    frameFiles.keep { $0.time.map(bounds.contains) ?? true }
    self.frameFiles = frameFiles
  }

  /// By frame number, the frame files that can be read.
  var rows: [Int: ThreeDScannerAppFrameFile] { frameFiles.values }
  var emptyRows: Int { frameFiles.empty }
  var corruptRows: Int { frameFiles.corrupt }
  /// Why a frame file cannot be opened.
  var problem: CaptureError? { frameFiles.problem }

  /// The readable frame files, by number.
  var sorted: [(frame: Int, file: ThreeDScannerAppFrameFile)] {
    frameFiles.sorted.map { ($0.frame, $0.value) }
  }

  private static func bytes(_ path: FilePath) throws(FileError) -> [UInt8] {
    try InputFile(path).whole(limit: InputLimits.bytesOfDescription)
  }
}
