import Foundation
import SystemPackage

/// One entry of the matrix: a call on a file, and how it fails.
struct FaultCell: CustomStringConvertible {
  enum Manner: String, CaseIterable {
    case always, once
    /// The first is done, and its answer is lost: it says that it failed.
    case answer
  }

  var call: String
  /// A pattern of paths.
  var place: String
  var error: Errno
  var manner: Manner

  var description: String { "\(call) \(place) \(Self.name(error)) \(manner)" }

  /// The numbers that a call can give, those of real disks, networks and limits.
  static let errors: [String: [Errno]] = [
    "lookup": [.ioError, .staleNFSFileHandle, .permissionDenied],
    "getattr": [.ioError, .staleNFSFileHandle],
    "opendir": [.ioError, .staleNFSFileHandle, .permissionDenied, .tooManyOpenFiles],
    "readdir": [.ioError, .staleNFSFileHandle],
    "open": [
      .ioError, .staleNFSFileHandle, .permissionDenied, .tooManyOpenFiles, .interrupted, .timedOut,
    ],
    "read": [.ioError, .staleNFSFileHandle, .timedOut, .interrupted],
    "create": [
      .ioError, .noSpace, .diskQuotaExceeded, .readOnlyFileSystem, .permissionDenied,
      .staleNFSFileHandle, .tooManyOpenFiles, .fileNameTooLong, .interrupted,
    ],
    "write": [
      .ioError, .noSpace, .diskQuotaExceeded, .fileTooLarge, .staleNFSFileHandle, .interrupted,
    ],
    "fsync": [.ioError, .noSpace, .diskQuotaExceeded, .staleNFSFileHandle],
    // Some disks know no flush of a folder, which is no failure.
    "fsyncdir": [.ioError, .staleNFSFileHandle, .invalidArgument],
    "rename": [
      .ioError, .noSpace, .diskQuotaExceeded, .readOnlyFileSystem, .permissionDenied,
      .staleNFSFileHandle,
    ],
    "mkdir": [
      .ioError, .noSpace, .diskQuotaExceeded, .readOnlyFileSystem, .permissionDenied,
      .staleNFSFileHandle,
    ],
    "unlink": [.ioError, .readOnlyFileSystem, .permissionDenied, .resourceBusy],
    "rmdir": [.ioError, .readOnlyFileSystem, .resourceBusy],
    "link": [.ioError, .noSpace, .notPermitted, .tooManyLinks],
    "truncate": [.ioError, .noSpace],
    "fallocate": [.ioError, .noSpace, .diskQuotaExceeded, .notSupportedOnSocket],
    // Where a network disk tells what it could not write.
    "close": [.ioError, .noSpace, .diskQuotaExceeded],
    "statfs": [.ioError, .staleNFSFileHandle],
    "chmod": [.ioError, .notPermitted],
    "utimes": [.ioError, .notPermitted],
    "copy": [.ioError, .noSpace],
  ]

  /// Calls that change something.
  static let changes: Set<String> = [
    "create", "write", "fsync", "fsyncdir", "rename", "mkdir", "unlink", "rmdir", "link",
    "truncate", "fallocate", "close", "chmod", "utimes", "copy",
  ]

  /// Calls whose answer may be lost after they were carried out, as by a server that went away.
  private static let answered: Set<String> = [
    "create", "rename", "mkdir", "unlink", "rmdir", "link",
  ]

  /// Cells of what was called below `folder`: each call of each file that has a name of its own, with the first number
  /// of the call and another one, so that all numbers come up with some file.
  static func all(of calls: [(call: String, path: String)], below folder: String) -> [FaultCell] {
    // A file that was only read is closed without a word by every disk.
    let written = Set(calls.filter { $0.call == "create" || $0.call == "write" }.map(\.path))
    var seen: Set<String> = []
    var places: [String: Int] = [:]
    var cells: [FaultCell] = []
    for (call, path) in calls where path.hasPrefix(folder) && !path.hasSuffix(" (deleted)") {
      let place = pattern(path)
      guard call != "close" || written.contains(path),
        seen.insert("\(call) \(place)").inserted
      else { continue }
      let numbers = errors[call] ?? []
      let count = places[call, default: 0]
      places[call] = count + 1
      for error in numbers.prefix(1)
        + (numbers.count > 1 ? [numbers[1 + count % (numbers.count - 1)]] : [])
      {
        for manner in Manner.allCases {
          let isPossible =
            switch manner {
            // Who is interrupted tries again.
            case .always: error != .interrupted
            case .once: true
            case .answer: error == .ioError && answered.contains(call)
            }
          guard isPossible else { continue }
          cells.append(FaultCell(call: call, place: place, error: error, manner: manner))
        }
      }
    }
    return cells
  }

  /// Numbers of runs, processes and frames differ from one time to the next.
  private static func pattern(_ path: String) -> String {
    path
      .replacing(#/[0-9]{8}T[0-9]{6}-[0-9a-z-]+/#, with: "*")
      .replacing(#/claim-[^/]*/#, with: "claim-*")
      .replacing(#/\.[0-9a-z]+-[0-9a-z-]+\.new/#, with: ".*.new")
      .replacing(#/[0-9A-F]{8}-[0-9A-F-]{27}/#, with: "*")
      .replacing(#/[0-9a-f]{16,}/#, with: "*")
      .replacing(#/[0-9]{4,}/#, with: "*")
  }

  static func name(_ error: Errno) -> String {
    names[error] ?? "errno \(error.rawValue)"
  }

  private static let names: [Errno: String] = [
    .ioError: "EIO", .staleNFSFileHandle: "ESTALE", .permissionDenied: "EACCES",
    .tooManyOpenFiles: "EMFILE", .interrupted: "EINTR", .timedOut: "ETIMEDOUT", .noSpace: "ENOSPC",
    .diskQuotaExceeded: "EDQUOT", .readOnlyFileSystem: "EROFS", .fileNameTooLong: "ENAMETOOLONG",
    .fileTooLarge: "EFBIG", .invalidArgument: "EINVAL", .resourceBusy: "EBUSY",
    .notPermitted: "EPERM", .tooManyLinks: "EMLINK", .notSupportedOnSocket: "EOPNOTSUPP",
  ]

  /// What some disks cannot do is done without.
  var isHarmless: Bool {
    call == "fsyncdir" && error == .invalidArgument
      || call == "fallocate" && error == .notSupportedOnSocket
  }

  /// Whether a text tells of the error. What is read from a mapped file and fails gives a signal, and no number.
  func isTold(in text: String) -> Bool {
    let text = text.lowercased()
    if call == "read", text.contains("ended by sigbus") { return true }
    return
      ([String(cString: strerror(error.rawValue)).lowercased()] + (Self.otherWords[error] ?? []))
      .contains { text.contains($0) }
  }

  private static let otherWords: [Errno: [String]] = [
    .noSpace: ["no space left", "disk of this server is full", "disk of the output is full"],
    .diskQuotaExceeded: [
      "quota", "no space left", "disk of this server is full", "disk of the output is full",
    ],
    .readOnlyFileSystem: ["read-only"], .interrupted: ["interrupted"],
  ]
}
