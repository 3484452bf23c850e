import Core
import Glibc
import SystemPackage

/// Reads the captures of one family.
public protocol CaptureReader: Sendable {
  /// Facts about the family that other modules need.
  static var description: FamilyDescription { get }
  /// Part of the fingerprints of all stages that read a capture. Must be raised when the same files
  /// are interpreted differently.
  static var readerVersion: Int { get }
  /// Recognizes captures of this family that are folders, or files with one stem, in the folder
  /// itself. Reads names and the first bytes of files only, and never decides by a file extension
  /// alone. May ask the listing for names in a few subfolders (`FolderListing.names(in:)`).
  static func recognize(_ listing: FolderListing) -> [Recognition]
  /// Whether a file of this name may be a capture by itself and is worth opening. Called for every
  /// file of every folder that is searched: compares text, and opens nothing.
  static func mayBeCapture(fileName: String) -> Bool
  /// Whether people who see a file of this name expect a capture in it: if it is none, it is listed as
  /// not recognized, and it counts while it arrives. `true` for fewer names than `mayBeCapture`.
  static func isCalledLikeCapture(fileName: String) -> Bool
  /// Recognizes a capture of this family that is one file, by its first bytes and at most one
  /// bounded look, never by its name alone. Also called for files that a user names, whatever they
  /// are called.
  static func recognize(file: InputFile) throws(FileError) -> Recognition?
  /// Opens a recognized capture. Throws only when nothing can be read; an unreadable stream is part
  /// of the result.
  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture
  /// The role of a file or folder directly in the capture's folder, by its name alone; `nil` if the
  /// name is not one of this family's. Not called for captures that are one file.
  static func role(of name: String, stem: String?) -> FileRole?
  /// Names of the files that an upload of the capture with this stem still lacks, told from the
  /// names in the folder and from its metadata; `nil` if nothing in the folder is of this family, or
  /// if its apps upload no files one by one. Order: that of the family's page.
  static func namesLacking(ofUpload stem: String, in listing: FolderListing) -> [String]?
}

extension CaptureReader {
  public static func role(of name: String, stem: String?) -> FileRole? { nil }

  public static func namesLacking(ofUpload stem: String, in listing: FolderListing) -> [String]? {
    nil
  }

  public static func mayBeCapture(fileName: String) -> Bool { false }

  public static func isCalledLikeCapture(fileName: String) -> Bool {
    mayBeCapture(fileName: fileName)
  }

  public static func recognize(file: InputFile) throws(FileError) -> Recognition? { nil }

  public static var family: CaptureFamily { description.family }

  typealias Evidence = (certainty: Recognition.Certainty, reason: String)

  /// The recognition of a folder, or of the files of a stem in it, by what was found there.
  static func recognition(
    of listing: FolderListing, stem: String? = nil, _ evidence: Evidence?
  ) -> [Recognition] {
    guard let (certainty, reason) = evidence else { return [] }
    return [
      Recognition(
        family: family, certainty: certainty, folder: listing.folder, stem: stem, reason: reason)
    ]
  }
}

/// A capture that was found and is not yet opened: a folder, files of a folder that share a stem, or
/// one file.
public struct Recognition: Hashable, Sendable, Codable {
  public enum Certainty: Int, Comparable, Sendable, Codable {
    case possible, certain
    /// A person wrote a file that says what the folder is: nothing else in it is a capture.
    case declared
    public static func < (a: Certainty, b: Certainty) -> Bool { a.rawValue < b.rawValue }
  }

  public var family: CaptureFamily
  public var certainty: Certainty
  /// The capture's folder; the file if the capture is one file.
  @CodedPath public var path: FilePath
  /// The common stem of its files, for families that name files by it.
  public var stem: String?
  /// The capture's id: its stem, the name of its folder, of the folder above it, or of its file.
  public var id: String
  /// Why it was recognized, for people.
  var reason: String
  /// What else its folder is; `nil` for a capture that is not a whole folder, and where no look is known.
  public var surroundings: Surroundings?
  /// `nil` for a folder and for files with a stem.
  private var form: Form?

  /// What all families made of the folder of a capture in one look.
  public struct Surroundings: Sendable, Codable {
    /// When the folder was listed: nanoseconds since 1970.
    public var listedNanoseconds: Int64
    /// What the whole folder is with the same certainty for other families.
    var rivals: [Recognition]
    /// Whether no other capture was found in the folder.
    public internal(set) var isOnlyCapture = false
  }

  private enum Form: String, Codable {
    case file
  }

  private enum CodingKeys: String, CodingKey {
    case family, certainty
    case path = "folder"
    case stem, id, reason, form, surroundings
  }

  /// A capture that is a folder, or the files with a stem in it.
  ///
  /// - Parameter id: by default the stem, else the folder's name (`FolderName.id`).
  public init(
    family: CaptureFamily, certainty: Certainty, folder: FilePath, stem: String? = nil,
    id: String? = nil, reason: String
  ) {
    self.family = family
    self.certainty = certainty
    path = folder
    self.stem = stem
    self.id = id ?? stem ?? FolderName.id(of: folder)
    self.reason = reason
  }

  /// A capture that is one file.
  public init(
    family: CaptureFamily, certainty: Certainty, file: FilePath, id: String, reason: String
  ) {
    self.init(family: family, certainty: certainty, folder: file, id: id, reason: reason)
    form = .file
  }

  /// Whether the capture is one file, at `path`.
  public var isFile: Bool { form == .file }

  /// Whether the capture is a whole folder, with everything in it.
  public var isWholeFolder: Bool { stem == nil && !isFile }

  /// The folder that holds the capture's files: its own, or the one around a capture that is one
  /// file.
  public var folder: FilePath { isFile ? path.removingLastComponent() : path }
}

extension Recognition {
  /// Recognitions of the same capture for the same reason are equal, whatever surrounds it.
  public static func == (a: Recognition, b: Recognition) -> Bool {
    (a.family, a.certainty, a.path, a.id, a.reason) == (
      b.family, b.certainty, b.path, b.id, b.reason
    )
      && (a.stem, a.form) == (b.stem, b.form)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(id)
  }

  /// Errors of the machine at its files since `mark`, oldest first.
  package func deviceErrors(since mark: DeviceErrors.Mark) -> [FileError] {
    DeviceErrors.since(mark, at: path).filter { error in
      var rest = error.path
      guard let stem, rest.removePrefix(path), let first = rest.components.first else {
        return true
      }
      return first.string.utf8.starts(with: stem.utf8)
    }
  }
}

/// The role of a capture's file, by its name.
public struct FileRole: Hashable, Sendable {
  /// The parts that are read from it.
  public var parts: Set<CapturePart>
  /// Whether another file may replace it, which is then used instead.
  var isAlternative: Bool

  public init(_ parts: Set<CapturePart>, isAlternative: Bool = false) {
    self.parts = parts
    self.isAlternative = isAlternative
  }
}

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

/// Checks that paths written inside a capture stay inside it.
public enum PathSafety {
  /// The path without symbolic links; `nil` when it does not exist.
  public static func resolved(_ path: FilePath) -> FilePath? { try? resolve(path) }

  /// The path without symbolic links. Throws when it does not exist, is not permitted, or is a link
  /// loop.
  static func resolve(_ path: FilePath) throws(FileError) -> FilePath {
    guard let real = path.withPlatformString({ realpath($0, nil) }) else {
      throw FileError(Errno(rawValue: errno), path: path, operation: "look at")
    }
    defer { free(real) }
    return FilePath(platformString: real)
  }

  /// The path without symbolic links as far as it exists, with the rest unchanged: for paths that
  /// will be created.
  public static func resolvedAsFarAsPossible(_ path: FilePath) -> FilePath {
    guard let whole = try? FileSystem.absolute(path) else { return path }
    var present = whole
    var rest: [FilePath.Component] = []
    while true {
      if let real = resolved(present) {
        return rest.reversed().reduce(real) { $0.appending($1) }.lexicallyNormalized()
      }
      guard let last = present.lastComponent, present.removeLastComponent() else { return whole }
      rest.append(last)
    }
  }
}
