import Storage
import SystemPackage

/// The location of a capture: its folder, and its stem if it shares the folder with others.
///
/// Compared by bytes: names that differ only in Unicode composition are different.
public struct CaptureLocation: Hashable, Sendable {
  public let folder: FilePath
  /// The stem as encoded by `PathText`.
  public let stem: String?

  public init(folder: FilePath, stem: String? = nil) {
    self.folder = folder
    self.stem = stem
  }

  /// From a capture found by the finder, whose paths have no links.
  public init(_ recognition: Recognition) {
    self.init(folder: recognition.folder, stem: recognition.stem)
  }

  /// From a capture with any path: links are resolved as far as the path exists. Cost: some system
  /// calls.
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

  /// Whether `other` is the same location under another path, through a bind mount or a later link.
  public func isAlias(of other: CaptureLocation) -> Bool {
    guard hasStem(of: other), let mine = FileID(ofFolder: folder) else { return false }
    return mine == FileID(ofFolder: other.folder)
  }

  private func hasStem(of other: CaptureLocation) -> Bool {
    stem.map { Array($0.utf8) } == other.stem.map { Array($0.utf8) }
  }

  /// Whether nothing exists there any more. A location that cannot be read counts as existing.
  /// Cost: lists the folder.
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
