import Captures
import Media
import Core
import Engine
import Synchronization
import SystemPackage

/// Writes the points of frames, into one growing file or into a file per frame. For one thread.
final class PointCloudSink {
  static let cloudName = "cloud.ply"

  /// Number of points written so far.
  private(set) var points = 0
  private let layout: PLYLayout
  private let staging: StagingFolder
  /// The single file, whose header is completed at the end; `nil` with a file per frame.
  private let cloud: CloudFile?

  init(_ plan: PointCloudPlan, _ staging: StagingFolder) throws {
    layout = plan.layout
    self.staging = staging
    cloud =
      plan.files == .cloud
      ? try CloudFile(staging.open(Self.cloudName), header: layout.header(points: 0))
      : nil
  }

  /// The file with the points of a frame.
  static func name(of frame: Int, _ layout: ExportPLY.Layout) -> String {
    layout == .cloud ? cloudName : FrameFileName.name(frame, "ply")
  }

  func append(_ cloudPoints: PLYPoints, of frame: Int) throws {
    points += cloudPoints.count
    if let cloud {
      try cloud.append(cloudPoints.bytes)
    } else {
      let file = try staging.create(Self.name(of: frame, .frames))
      try file.append(layout.header(points: cloudPoints.count))
      try file.append(cloudPoints.bytes)
      try file.finish()
    }
  }

  func finish() throws {
    guard let cloud else { return }
    try cloud.finish(header: layout.header(points: points))
    // Digested as a whole, because its first bytes are written last.
    try staging.adopt(Self.cloudName)
  }
}

/// A file that grows and whose header is rewritten at the end.
private final class CloudFile {
  private let path: FilePath
  private let file: FileDescriptor
  private var isOpen = true
  private var bytes: Int64 = 0
  /// The part of it whose writeback has been requested.
  private var begun: Int64 = 0

  init(_ opened: (FileDescriptor, path: FilePath), header: [UInt8]) throws(FileError) {
    (file, path) = opened
    try append(header)
  }

  deinit {
    if isOpen { try? file.close() }
  }

  func append(_ piece: [UInt8]) throws(FileError) {
    do {
      _ = try file.writeAll(piece)
    } catch {
      throw FileError(error as? Errno ?? .ioError, path: path, operation: "write")
    }
    bytes += Int64(piece.count)
    if bytes - begun >= StagingFolder.earlyBytes { beginWriting() }
  }

  private func beginWriting() {
    StagingFolder.beginWriting(file, from: begun, bytes: bytes - begun)
    begun = bytes
  }

  /// `header` must be as long as the one before.
  func finish(header: [UInt8]) throws(FileError) {
    isOpen = false
    if bytes > begun { beginWriting() }
    do {
      _ = try file.writeAll(toAbsoluteOffset: 0, header)
      try file.close()
    } catch {
      throw FileError(error as? Errno ?? .ioError, path: path, operation: "write")
    }
  }
}
