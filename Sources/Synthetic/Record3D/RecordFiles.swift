import Media
import Core
import SystemPackage

/// The place of a recording's files: a folder or an archive.
struct RecordFiles {
  private let plan: RecordPlan
  private let root: FilePath
  private var archive: ZIPFile?
  /// Where a cut copy ends.
  private var end: Int?

  init(_ path: FilePath, plan: RecordPlan) throws {
    self.plan = plan
    root = plan.form == .exr ? path.appending("EXR_RGBD") : path
    if plan.form == .r3d {
      archive = try ZIPFile(path)
      return
    }
    try FileSystem.makeFolder(root)
    for folder in Set([plan.form.colorFolder, plan.form.depthFolder]) {
      try FileSystem.makeFolder(root.appending(folder))
    }
  }

  mutating func append(
    _ name: String, _ bytes: [UInt8]?, _ method: ZIPFile.Method = .stored,
    hasWrongChecksum: Bool = false, isEnd: Bool = false
  ) throws {
    guard let bytes else { return }
    guard archive != nil else {
      return try OutputFile.write(bytes, to: root.pushing(FilePath(name)))
    }
    let place = try archive?.append(name, bytes, method, hasWrongChecksum: hasWrongChecksum)
    if isEnd, let place { end = place.offset + place.byteCount / 2 }
  }

  mutating func finish() throws {
    if plan.hasHostileNames {
      for name in ["../outside.jpg", "/tmp/outside.jpg", "C:\\outside.jpg"] {
        try append(name, Array("outside".utf8))
      }
    }
    try archive?.finish()
    guard let end else { return }
    let file = try FileDescriptor.open(root, .writeOnly)
    try file.closeAfter { try file.resize(to: Int64(end)) }
  }
}
