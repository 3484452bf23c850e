import Core
import SystemPackage

/// The output folder as it was when the run began. Results go there and nowhere else: a folder of the
/// same name that is made later is another one.
struct OutputGuard: Hashable, Sendable, Codable {
  @CodedPath private var path: FilePath
  private var device: UInt64
  private var inode: UInt64

  /// `nil` while there is none.
  init?(_ path: FilePath) {
    guard let found = try? Self.identity(of: path) else { return nil }
    self.path = path
    (device, inode) = (found.device, found.inode)
  }

  /// Throws when it is no longer there.
  func check() throws(FileError) {
    var why = "something else has its name now"
    do throws(FileError) {
      let now = try Self.identity(of: path)
      if now == FileID(device: device, inode: inode) { return }
    } catch {
      guard error.kind == .notFound else { throw error }
      why = "it is gone"
    }
    throw FileError(
      kind: .notFound, path: path, operation: "write",
      reason: "the output folder was removed, moved or replaced while the run went on: \(why)",
      remedy: "put it back and run the same command again")
  }

  private static func identity(of path: FilePath) throws(FileError) -> FileID {
    do throws(Errno) {
      return try FileStatus(followingAllLinksOf: path).id
    } catch {
      throw FileError(error, path: path, operation: "write")
    }
  }
}
