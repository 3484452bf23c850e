import SystemPackage
import Glibc

/// Why this user may not read a file or enter a folder: what denies it, with mode and owner, and what would allow it.
///
/// Looks once when it has happened; it may have changed since.
public struct AccessRefusal: Hashable, Sendable {
  /// The file that cannot be read, or the folder on its path that cannot be entered.
  public let path: FilePath
  private let status: Status?

  private struct Status: Hashable {
    var isFolder: Bool
    var mode: UInt32
    var user: UInt32
    var group: UInt32
  }

  /// Finds what refuses access to a path that could not be opened for want of rights.
  public init(of path: FilePath) {
    var place = path
    while true {
      if let found = try? FileStatus(of: place, followsLast: true) {
        self.path = place
        status = Status(
          isFolder: found.kind == .folder, mode: found.mode & 0o7777, user: found.user,
          group: found.group)
        return
      }
      let above = place.removingLastComponent()
      guard !above.isEmpty, above != place else { break }
      place = above
    }
    self.path = path
    status = nil
  }

  /// Whether the file or folder at `path` is there and may not be read by this user. Cost: one system call or two.
  public static func isRefused(_ path: FilePath) -> Bool {
    let opened = EnclosedPaths.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    if opened >= 0 {
      close(opened)
      return false
    }
    return errno == EACCES || errno == EPERM
  }

  /// The error of who tried to read what is refused.
  public static func error(_ path: FilePath) -> FileError {
    FileError(.permissionDenied, path: path, operation: "read")
  }

  /// `permission denied: mode 0600, owner anna, group lab; scanmill runs as www-data`.
  ///
  /// - Parameter wanted: the path that was to be opened.
  func reason(for wanted: FilePath) -> String {
    guard let status else { return "permission denied: scanmill runs as \(Self.ownName)" }
    let mode = status.mode.padded(4, radix: 8)
    let place = path == wanted ? "" : "its folder \(path.shown.onOneLine) has "
    return "permission denied: \(place)mode \(mode), owner \(Self.userName(status.user)), "
      + "group \(Self.groupName(status.group)); scanmill runs as \(Self.ownName)"
  }

  /// What to type to allow it: for the owner one command, else one for this user and one for everybody.
  public var commands: [String] {
    let isFolder = status?.isFolder == true
    let rights = isFolder ? "rx" : "r"
    let file = Self.quoted(path.shown)
    if status?.user == geteuid() { return ["chmod u+\(rights) \(file)"] }
    return ["setfacl -m u:\(Self.ownName):\(rights) \(file)", "chmod o+\(rights) \(file)"]
  }

  var remedy: String { "allow it with: " + commands.joined(separator: ", or for everybody: ") }

  // MARK: Words

  /// The user that this process runs as.
  public static let ownName = userName(geteuid())

  /// The number where the system has no name for it.
  private static func userName(_ number: uid_t) -> String {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 14) { buffer in
      guard let place = buffer.baseAddress,
        getpwuid_r(number, &entry, place, buffer.count, &found) == 0,
        let name = found?.pointee.pw_name
      else { return "\(number)" }
      return String(cString: name)
    }
  }

  private static func groupName(_ number: gid_t) -> String {
    var entry = group()
    var found: UnsafeMutablePointer<group>?
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 14) { buffer in
      guard let place = buffer.baseAddress,
        getgrgid_r(number, &entry, place, buffer.count, &found) == 0,
        let name = found?.pointee.gr_name
      else { return "\(number)" }
      return String(cString: name)
    }
  }

  private static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0.isLetterOrDigit || "_-./".utf8.contains($0) }
    return isPlain ? text : "'" + text.onOneLine.replacing("'", with: #"'\''"#) + "'"
  }
}
