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
