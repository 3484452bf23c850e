import CPlatform
import Storage
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Whether a database can lie in an output folder.
enum CatalogGuard {
  /// Magic numbers of `statfs` (linux/magic.h and the file systems' own sources) on which locks or shared
  /// memory are not what SQLite needs.
  private static let shared: [Int64: String] = [
    0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x0BD0_0BD0: "Lustre",
    0x6573_5546: "FUSE", 0x00C3_6400: "Ceph", 0x0102_1997: "9P", 0x4750_4653: "GPFS",
    0x1983_0326: "BeeGFS", 0x5346_414F: "AFS", 0x7375_7245: "Coda",
  ]

  static func isUsable(_ root: FilePath) -> Bool { whyNot(root).isEmpty }

  /// Why no database can lie there; empty: it can.
  static func whyNot(_ root: FilePath) -> String {
    let kind = root.withPlatformString { scanmill_filesystem_kind($0) }
    guard kind >= 0 else { return "its file system cannot be looked at" }
    // SQLite takes text.
    guard root.text == root.string else { return "its path is not UTF-8" }
    if let name = shared[Int64(kind)] {
      return "it lies on \(name), where a database is not safe; every answer is made without one"
    }
    for name in ["", "-wal", "-shm", "-journal"].map({ Catalog.fileName + $0 }) {
      guard let entry = try? HeldFolder.following(root).entry(name) else { continue }
      // Nothing of ours: it is left alone.
      guard entry.kind == .file else { return "\(name) is not a file; nothing is written to it" }
    }
    return ""
  }

  static func isWritable(_ root: FilePath) -> Bool {
    root.withPlatformString { access($0, W_OK | X_OK) } == 0
  }
}
