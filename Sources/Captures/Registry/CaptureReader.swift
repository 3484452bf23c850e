import Storage
import SystemPackage

/// Reads the captures of one family.
public protocol CaptureReader: Sendable {
  /// What others must know of the family.
  static var description: FamilyDescription { get }
  /// Part of every fingerprint that reads a capture; raised when equal files would be understood
  /// otherwise.
  static var readerVersion: Int { get }
  /// The captures of this family that the folder itself (not its subfolders) holds. Looks at names
  /// and small heads of files only, and never decides by an extension alone.
  static func recognize(_ listing: FolderListing) -> [Recognition]
  /// Opens a recognized capture. Throws only when nothing of it can be read; an unreadable stream is
  /// part of the result.
  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture
  /// What a file or folder directly in the capture's folder is for; `nil`: nothing, or it is no name of
  /// this family's. By its name alone.
  static func role(of name: String, stem: String?) -> FileRole?
}

extension CaptureReader {
  public static func role(of name: String, stem: String?) -> FileRole? { nil }

  public static var family: CaptureFamily { description.family }
}

/// A capture found in a folder, before it is opened.
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
  /// What was recognized, for people.
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
