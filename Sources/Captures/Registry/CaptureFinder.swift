import Parallel
import Storage
import SystemPackage

/// Finds captures behind the paths that a user names.
public struct CaptureFinder: Sendable {
  /// What one path leads to.
  public struct Finding: Sendable {
    public var path: FilePath
    /// In path order.
    public var captures: [Recognition]
    /// Why there are none.
    public var declined: String?
  }

  private let registry: CaptureRegistry

  public init(_ registry: CaptureRegistry) {
    self.registry = registry
  }

  /// A folder that holds captures, a folder of such folders (one level), or one file of a capture
  /// (then the capture with its stem, or the only one of its folder).
  public func find(_ path: FilePath) -> Finding {
    guard let path = PathSafety.resolved(path) else {
      return Finding(path: path, captures: [], declined: "\(path): no such file or folder")
    }
    guard FileSystem.isFolder(path) else { return findAround(file: path) }
    guard let listing = try? FolderListing(of: path) else {
      return Finding(path: path, captures: [], declined: "\(path): the folder cannot be read")
    }
    var captures = registry.recognize(listing)
    // A folder that is one capture as a whole owns its subfolders; a shelf of stems does not.
    if !captures.contains(where: { $0.stem == nil }) {
      captures += inside(listing.subfolders.filter { !$0.hasPrefix(".") }, of: path)
    }
    captures.sort { ($0.folder.string, $0.id) < ($1.folder.string, $1.id) }
    return Finding(
      path: path, captures: captures, declined: captures.isEmpty ? Self.why(listing) : nil)
  }

  /// The captures of subfolders. A staging folder may have ten thousand: on all cores.
  private func inside(_ names: [String], of path: FilePath) -> [Recognition] {
    let share = 32
    let found = try? concurrentMap(count: (names.count + share - 1) / share) { index in
      names[(index * share)..<min(names.count, (index + 1) * share)].flatMap { name in
        (try? FolderListing(of: path.appending(name))).map(registry.recognize) ?? []
      }
    }
    return found?.flatMap { $0 } ?? []
  }

  private func findAround(file: FilePath) -> Finding {
    let folder = file.removingLastComponent()
    let name = file.lastComponent?.string ?? ""
    let all = (try? FolderListing(of: folder)).map(registry.recognize) ?? []
    let named = all.filter { capture in capture.stem.map { name.hasPrefix($0) } ?? false }
    let found = named.isEmpty && all.count == 1 ? all : named
    return Finding(
      path: file, captures: found,
      declined: found.isEmpty ? "\(file): belongs to no capture of a known family" : nil)
  }

  private static func why(_ listing: FolderListing) -> String {
    let folder = listing.folder
    if listing.files.isEmpty, listing.subfolders.isEmpty { return "\(folder): the folder is empty" }
    let some = listing.files.prefix(5).joined(separator: ", ")
    return "\(folder): no capture of a known family here or one level below"
      + (some.isEmpty ? "" : " (it holds \(some)\(listing.files.count > 5 ? ", …" : ""))")
      + ": no file has the content that a family is recognized by"
  }
}
