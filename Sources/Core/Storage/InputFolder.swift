import Synchronization
import SystemPackage

/// A folder of many small files, each read as a whole. It is opened when the first file is read and
/// then held, so that its path is resolved once.
///
/// As with `InputFile`, only regular files are opened, and a link is followed as far as
/// `EnclosedPaths` allows. Thread-safe. If another folder takes its place meanwhile, the files are
/// still those of the folder that was opened.
///
/// Cost: one descriptor, and five system calls per file, of which `InputFile` needs eight. A file
/// that is a link, or cannot be read, costs those of both.
public final class InputFolder: Sendable {
  public let path: FilePath
  private let held = Mutex(Held.unopened)

  private enum Held {
    case unopened
    /// `nil` if it cannot be opened: `InputFile` then says why.
    case opened(HeldFolder?)
  }

  /// Opens nothing yet. Links in `path` are followed as far as `EnclosedPaths` allows.
  public init(_ path: FilePath) {
    self.path = path
  }

  /// The whole content of the file `name`, in the form of `PathText`, of at most `limit` bytes. The
  /// result is shorter if the file was shortened meanwhile.
  public func whole(_ name: String, limit: InputLimit) throws(FileError) -> [UInt8] {
    // A pipe or device is not opened at all, because that can block or have side effects.
    if let folder = folder(), folder.stamp(of: name) != nil,
      let found = folder.stampedContents(of: name, limit: limit.most)
    {
      return found.bytes
    }
    return try InputFile(path.appending(name: name)).whole(limit: limit)
  }

  private func folder() -> HeldFolder? {
    held.withLock { held in
      if case .opened(let folder) = held { return folder }
      let folder = HeldFolder(path)
      held = .opened(folder)
      return folder
    }
  }
}
