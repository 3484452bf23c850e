import Core
import SystemPackage

/// The location of a capture: its folder or file, and its stem if it is a set of files that shares
/// the folder with others.
///
/// Compared by bytes: names that differ only in Unicode composition are different.
public struct CaptureLocation: Hashable, Sendable {
  public let path: FilePath
  /// The stem as encoded by `PathText`.
  public let stem: String?

  public init(_ path: FilePath, stem: String? = nil) {
    self.path = path
    self.stem = stem
  }

  /// From a capture found by the finder, whose paths have no links.
  public init(_ recognition: Recognition) {
    self.init(recognition.path, stem: recognition.stem)
  }

  /// From a capture with any path: links are resolved as far as the path exists. Cost: some system
  /// calls.
  public init(resolving recognition: Recognition) {
    self.init(
      PathSafety.resolved(recognition.path) ?? recognition.path, stem: recognition.stem)
  }

  public static func == (a: CaptureLocation, b: CaptureLocation) -> Bool {
    a.path == b.path && a.hasStem(of: b)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(stem.map { Array($0.utf8) })
  }

  /// Whether `other` is the same location under another path, through a bind mount or a later link.
  public func isAlias(of other: CaptureLocation) -> Bool {
    guard hasStem(of: other), let mine = id else { return false }
    return mine == other.id
  }

  private func hasStem(of other: CaptureLocation) -> Bool {
    stem.map { Array($0.utf8) } == other.stem.map { Array($0.utf8) }
  }

  /// The identity of the folder or file; `nil` if neither is there.
  public var id: FileID? { FileID(ofFolder: path) ?? (stem == nil ? FileID(ofFile: path) : nil) }

  /// Whether nothing exists there any more. A location that cannot be read counts as existing.
  /// Cost: lists the folder.
  public var isGone: Bool {
    do throws(FileError) {
      let listing = try FolderListing(of: path)
      guard let stem else { return false }
      return !listing.files.contains { $0.utf8.starts(with: stem.utf8) }
    } catch {
      return error.kind == .notFound && (stem != nil || FileID(ofFile: path) == nil)
    }
  }
}
