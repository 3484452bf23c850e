import Storage
import SystemPackage

/// Reads the captures of one family.
public protocol CaptureReader: Sendable {
  /// Facts about the family that other modules need.
  static var description: FamilyDescription { get }
  /// Part of the fingerprints of all stages that read a capture. Must be raised when the same files
  /// are interpreted differently.
  static var readerVersion: Int { get }
  /// Recognizes captures of this family in the folder itself, not in its subfolders. Reads names
  /// and the first bytes of files only, and never decides by a file extension alone.
  static func recognize(_ listing: FolderListing) -> [Recognition]
  /// Opens a recognized capture. Throws only when nothing can be read; an unreadable stream is part
  /// of the result.
  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture
  /// The role of a file or folder directly in the capture's folder, by its name alone; `nil` if the
  /// name is not one of this family's.
  static func role(of name: String, stem: String?) -> FileRole?
}

extension CaptureReader {
  public static func role(of name: String, stem: String?) -> FileRole? { nil }

  public static var family: CaptureFamily { description.family }
}

/// A capture found in a folder and not yet opened.
public struct Recognition: Hashable, Sendable, Codable {
  public enum Certainty: Int, Comparable, Sendable, Codable {
    case possible, certain
    public static func < (a: Certainty, b: Certainty) -> Bool { a.rawValue < b.rawValue }
  }

  public var family: CaptureFamily
  public var certainty: Certainty
  @CodedPath public var folder: FilePath
  /// The common stem of its files, for families that name files by it.
  public var stem: String?
  /// The capture's id: stem or folder name.
  public var id: String
  /// Why it was recognized, for people.
  public var reason: String

  public init(
    family: CaptureFamily, certainty: Certainty, folder: FilePath, stem: String? = nil, id: String,
    reason: String
  ) {
    self.family = family
    self.certainty = certainty
    self.folder = folder
    self.stem = stem
    self.id = id
    self.reason = reason
  }
}
