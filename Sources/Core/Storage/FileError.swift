import Glibc
import Synchronization
import SystemPackage

/// A failed file system operation, with the file and a remedy.
public struct FileError: Error, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    case notFound
    case permission
    case noSpace
    case readOnly
    case locked
    case changedWhileReading
    /// A problem that may pass: a device or network did not answer, or a resource is in use.
    case temporary
    /// Something that this program did not create, or must not pass through, is in the place of a
    /// result.
    case notOurs
    /// Files that a stage or its program has left cannot be published.
    case unpublishable
    /// No descriptors, processes, threads or memory are left.
    case exhausted
    case other
  }

  public var kind: Kind
  public var path: FilePath
  /// The attempted operation: "open", "map", "write".
  public var operation: String
  public var reason: String
  public var remedy: String?
  /// The system's error number; `nil` if the error did not come from the system.
  public private(set) var code: Errno?

  public init(
    kind: Kind, path: FilePath, operation: String, reason: String, remedy: String? = nil
  ) {
    self.kind = kind
    self.path = path
    self.operation = operation
    self.reason = reason
    self.remedy = remedy
  }

  /// In every message about a disk or a quota that is used up.
  public static let noSpacePhrase = "no space left"

  /// Whether a message is about a disk that is full, in our words or in those of a program.
  public static func tellsOfFullDisk(_ message: String?) -> Bool {
    message?.lowercased().contains(noSpacePhrase) == true
  }

  static let spaceRemedy =
    "free some space and run the same command again: finished work is kept"

  /// What a call threw: an error with a file, an error number, or a failure that has none.
  public init(_ error: any Error, path: FilePath, operation: String) {
    self =
      error as? FileError
      ?? FileError(error as? Errno ?? .ioError, path: path, operation: operation)
  }

  /// An error from the system's error number.
  public init(_ errno: Errno, path: FilePath, operation: String) {
    if let refusal = EnclosedPaths.refusal(of: path, errno, operation: operation) {
      self = refusal
      return
    }
    switch errno {
    case .noSuchFileOrDirectory where operation == "make folder":
      self.init(
        kind: .notFound, path: path, operation: operation,
        reason: "nothing can be created at this place", remedy: "choose another folder")
    case .noSuchFileOrDirectory:
      self.init(kind: .notFound, path: path, operation: operation, reason: "no such file")
    case .notDirectory:
      self.init(
        kind: .notFound, path: path, operation: operation,
        reason: "a part of the path is not a folder")
    case .permissionDenied where Self.readingOperations.contains(operation),
      .notPermitted where Self.readingOperations.contains(operation):
      let refusal = AccessRefusal(of: path)
      self.init(
        kind: .permission, path: path, operation: operation, reason: refusal.reason(for: path),
        remedy: refusal.remedy)
    case .permissionDenied, .notPermitted:
      self.init(
        kind: .permission, path: path, operation: operation, reason: "permission denied",
        remedy: "check its owner and its permissions")
    case .noSpace, .diskQuotaExceeded:
      self.init(
        kind: .noSpace, path: path, operation: operation, reason: Self.noSpacePhrase,
        remedy: Self.spaceRemedy)
    case .readOnlyFileSystem:
      self.init(
        kind: .readOnly, path: path, operation: operation, reason: "read-only file system",
        remedy: "choose another --output")
    case .fileExists:
      self.init(
        kind: .other, path: path, operation: operation,
        reason: "a file with this name is in the way", remedy: "choose another name")
    case .isDirectory:
      self.init(kind: .other, path: path, operation: operation, reason: "it is a folder")
    case _ where Self.shortages.contains(errno):
      self.init(
        kind: .exhausted, path: path, operation: operation, reason: "\(errno)",
        remedy: Self.limitRemedy[errno])
    case _ where Self.numbersOfMachine.contains(errno):
      self.init(kind: .temporary, path: path, operation: operation, reason: "\(errno)")
    default:
      self.init(kind: .other, path: path, operation: operation, reason: "\(errno)")
    }
    code = errno
    DeviceErrors.note(self)
  }

  /// Error numbers of a disk or a network that fails or does not answer.
  public static let deviceFailures: Set<Errno> = [
    .ioError, .staleNFSFileHandle, .noSuchAddressOrDevice, .operationNotSupportedByDevice,
    .timedOut, .connectionReset, .connectionAbort, .connectionRefused, .socketNotConnected,
    .networkDown, .networkUnreachable, .networkReset, .hostIsDown, .noRouteToHost,
    // EREMOTEIO, ENOMEDIUM, EUCLEAN: Linux alone has them.
    Errno(rawValue: 121), Errno(rawValue: 123), Errno(rawValue: 117),
  ]
  /// Numbers of threads, processes, descriptors or memory that are used up.
  public static let shortages: Set<Errno> = [
    .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .resourceTemporarilyUnavailable,
    .noLocks,
  ]
  /// Numbers of something that is in use at this moment.
  public static let inUse: Set<Errno> = [.interrupted, .resourceBusy, .textFileBusy]
  static let numbersOfMachine = deviceFailures.union(shortages).union(inUse)

  /// Whether the machine is the cause, and not what the file is: trying again may succeed.
  public var isOfMachine: Bool { code.map(Self.numbersOfMachine.contains) ?? false }

  /// Whether it stays unknown what lies at the path: the machine failed, or permission is lacking.
  public var leavesUnknown: Bool { isOfMachine || code == .permissionDenied }

  /// An error about something foreign in a place where the program would write, remove or pass
  /// through.
  public static func notOurs(
    _ path: FilePath, _ reason: String, operation: String = "write",
    remedy: String = "move it away, or choose another --output"
  ) -> FileError {
    FileError(kind: .notOurs, path: path, operation: operation, reason: reason, remedy: remedy)
  }

  /// An error about a link in the place of a result, or in the path to it.
  static func link(_ path: FilePath, operation: String) -> FileError {
    notOurs(
      path, "is a symbolic link; inside the output no link is followed", operation: operation)
  }

  private static let limitRemedy: [Errno: String] = [
    .noMemory: "raise ulimit -v, or run fewer captures at a time with --jobs",
    .tooManyOpenFiles: "raise ulimit -n, or run fewer captures at a time with --jobs",
    .tooManyOpenFilesInSystem: "the whole machine has no file descriptors left",
    .resourceTemporarilyUnavailable: "raise ulimit -u, or run fewer captures at a time with --jobs",
  ]

  /// Whether the operation was a write.
  public var isWriting: Bool { Self.writingOperations.contains(operation) }

  private static let readingOperations: Set<String> = ["open", "map", "read", "look at", "list"]

  private static let writingOperations: Set<String> = [
    "write", "create", "make folder", "remove", "remove folder", "rename", "publish", "flush",
    "close", "lock",
  ]

  public var description: String {
    "\(path.shown.onOneLine): \(sentence)"
  }

  /// Operation, reason and remedy: the description without the path.
  public var sentence: String { problem + (remedy.map { " (\($0))" } ?? "") }

  /// Operation and reason, without path and remedy.
  public var problem: String { "\(Self.phrases[operation] ?? "cannot \(operation)"): \(reason)" }

  /// Each operation as the predicate of a sentence about the file.
  private static let phrases: [String: String] = [
    "open": "cannot be opened", "map": "cannot be opened", "read": "cannot be read",
    "look at": "cannot be accessed", "list": "cannot be listed", "write": "cannot be written",
    "create": "cannot be created", "make": "cannot be created",
    "make folder": "the folder cannot be created", "publish": "cannot be published",
    "flush": "cannot be written to disk", "close": "cannot be written to disk",
    "lock": "cannot be locked", "remove": "cannot be removed",
    "remove folder": "the folder cannot be removed", "rename": "cannot be renamed",
    "copy": "cannot be copied", "clone": "cannot be copied", "share": "cannot be linked or copied",
    "link": "cannot be linked", "start": "cannot be started",
    "synthesize": "cannot be synthesized",
    "find the current folder for": "the current folder cannot be found",
  ]
}

/// An error about the content of a file: damaged, truncated or of an unsupported kind.
public protocol ContentError: Error {
  /// The file, if known.
  var contentFile: FilePath? { get }
  /// The system's error number, where the machine failed and nothing is known of the content.
  var errorNumber: Errno? { get }
  /// What helps where another copy of the file does not, as an order; `nil`: another copy may help.
  var correction: String? { get }
}

extension ContentError {
  public var errorNumber: Errno? { nil }
  public var correction: String? { nil }
}

/// Why this user may not read a file or enter a folder: what denies it, with mode and owner, and what would allow it.
///
/// Looks once when it has happened; it may have changed since.
public struct AccessRefusal: Sendable {
  /// The file that cannot be read, or the folder on its path that cannot be entered.
  public let path: FilePath
  private let status: FileStatus?

  /// Finds what refuses access to a path that could not be opened for want of rights.
  public init(of path: FilePath) {
    var place = path
    while true {
      if let found = try? FileStatus(of: place, followsLast: true) {
        self.path = place
        status = found
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
    let mode = (status.mode & 0o7777).padded(4, radix: 8)
    let place = path == wanted ? "" : "its folder \(path.shown.onOneLine) has "
    return "permission denied: \(place)mode \(mode), owner \(Self.userName(status.user)), "
      + "group \(Self.groupName(status.group)); scanmill runs as \(Self.ownName)"
  }

  /// What to type to allow it: for the owner one command, else one for this user and one for everybody.
  public var commands: [String] {
    let isFolder = status?.kind == .folder
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

/// Files that could not be opened, looked at, listed or read because a disk, a network or the
/// machine failed, not because of what they are.
///
/// This module notes every such error, also where the caller takes a file that cannot be looked at
/// for an absent one. Whoever makes something of many files asks afterwards whether any of them
/// could not be read: what was made without it is not to be believed. The state is global on
/// purpose, for the reason given at `EnclosedPaths`: readers and codecs pass paths, and many of
/// them can do without a file.
///
/// Memory: the last errors, at most 1,024. Cost where nothing fails: nothing.
public enum DeviceErrors {
  /// A moment in the sequence of errors of this process.
  public typealias Mark = Int

  private struct State {
    var noted: [(number: Int, error: FileError)] = []
    var next = 0
  }

  private static let state = Mutex(State())
  private static let mostErrors = 1_024

  /// Now.
  public static var mark: Mark { state.withLock { $0.next } }

  /// What was noted since `mark` about `path`, what lies below it, and folders above it, oldest
  /// first. The newest of several about one path counts.
  public static func since(_ mark: Mark, at path: FilePath) -> [FileError] {
    state.withLock { state in
      state.noted.filter {
        $0.number >= mark && ($0.error.path.starts(with: path) || path.starts(with: $0.error.path))
      }.map(\.error)
    }
  }

  /// Notes an error of a device. Other errors are not noted.
  static func note(_ error: FileError) {
    guard error.isOfMachine, !error.isWriting, !isOfKind(error) else { return }
    state.withLock { state in
      state.noted.removeAll { $0.error.path == error.path }
      if state.noted.count >= mostErrors { state.noted.removeFirst(mostErrors / 2) }
      state.noted.append((state.next, error))
      state.next += 1
    }
  }

  /// Notes the number that a call has left in `errno`.
  static func note(_ number: Errno, _ path: @autoclosure () -> FilePath, _ operation: String) {
    // The error notes itself.
    if FileError.numbersOfMachine.contains(number) {
      _ = FileError(number, path: path(), operation: operation)
    }
  }

  /// Notes an error of a read call of another module, and returns its number; `nil` if it is not one of the machine.
  public static func number(of error: any Error, at path: FilePath) -> Errno? {
    guard let number = error as? Errno, FileError.numbersOfMachine.contains(number) else {
      return nil
    }
    note(number, path, "read")
    return number
  }

  /// Opening a socket gives the error number of a device that is gone.
  private static func isOfKind(_ error: FileError) -> Bool {
    error.code == .noSuchAddressOrDevice
      && (try? FileStatus(followingAllLinksOf: error.path))?.kind == .other
  }
}
