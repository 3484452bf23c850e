import Codecs
import Geometry
import Storage
import SystemPackage

/// The content of all files of one capture, each read for itself.
struct ThreeDScannerAppTables: Sendable {
  let files: ThreeDScannerAppFiles
  let color: ColorPictures
  let depth: PictureFiles<UInt16>
  let confidence: PictureFiles<UInt8>
  /// By frame number, the frame files that can be read.
  private(set) var rows: [Int: ThreeDScannerAppFrameFile] = [:]
  /// Number of frame files, readable or not.
  let rowFileCount: Int
  private(set) var emptyRows = 0
  private(set) var corruptRows = 0
  /// Why a frame file cannot be opened.
  private(set) var problem: CaptureError?
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
    corruptRows = files[.frame].unbelieved.count
    for file in files[.frame].files { read(file) }
    dropFarTimes()
  }

  private mutating func read(_ file: NumberedFiles.File) {
    let path = files.path(file.name)
    do throws(FileError) {
      let bytes = try Self.bytes(path)
      if bytes.isEmpty {
        emptyRows += 1
      } else if let members = JSONMembers(TextBytes.utf8(bytes)) {
        rows[file.number] = ThreeDScannerAppFrameFile(members)
      } else {
        corruptRows += 1
      }
    } catch {
      problem = problem ?? CaptureError(error, of: path)
    }
  }

  /// A frame file whose time is far away from all others is damaged.
  private mutating func dropFarTimes() {
    let bounds = TimeBounds(rows.values.lazy.compactMap(\.time))
    let read = rows.count
    rows = rows.filter { $0.value.time.map(bounds.contains) ?? true }
    corruptRows += read - rows.count
  }

  /// The readable frame files, by number.
  var sorted: [(frame: Int, file: ThreeDScannerAppFrameFile)] {
    rows.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private static func bytes(_ path: FilePath) throws(FileError) -> [UInt8] {
    try InputFile(path).whole(limit: InputLimits.bytesOfDescription)
  }
}
