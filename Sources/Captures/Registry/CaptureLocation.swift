import Storage
import SystemPackage

/// Where a capture lies: its folder, and its stem where it shares the folder with others.
///
/// Compared by bytes: names that look alike in another composition are two locations.
public struct CaptureLocation: Hashable, Sendable {
  public let folder: FilePath
  /// As `PathText` carries it.
  public let stem: String?

  public init(folder: FilePath, stem: String? = nil) {
    self.folder = folder
    self.stem = stem
  }

  /// Of a capture as the finder gives it: its paths have no links.
  public init(_ recognition: Recognition) {
    self.init(folder: recognition.folder, stem: recognition.stem)
  }

  /// Of a capture by any path: links are resolved, as far as there is something. Cost: some system calls.
  public init(resolving recognition: Recognition) {
    self.init(
      folder: PathSafety.resolved(recognition.folder) ?? recognition.folder, stem: recognition.stem)
  }

  public static func == (a: CaptureLocation, b: CaptureLocation) -> Bool {
    a.folder == b.folder && a.hasStem(of: b)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(folder)
    hasher.combine(stem.map { Array($0.utf8) })
  }

  /// Whether `other` is this location under another path: a bind mount, or a link made since.
  public func isAlias(of other: CaptureLocation) -> Bool {
    guard hasStem(of: other), let mine = FileID(ofFolder: folder) else { return false }
    return mine == FileID(ofFolder: other.folder)
  }

  private func hasStem(of other: CaptureLocation) -> Bool {
    stem.map { Array($0.utf8) } == other.stem.map { Array($0.utf8) }
  }

  /// Whether nothing is there any more. A location that cannot be looked at is not gone. Cost: a listing of
  /// the folder.
  public var isGone: Bool {
    do throws(FileError) {
      let listing = try FolderListing(of: folder)
      guard let stem else { return false }
      return !listing.files.contains { $0.utf8.starts(with: stem.utf8) }
    } catch {
      return error.kind == .notFound
    }
  }
}
