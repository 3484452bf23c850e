import CPlatform
import SystemPackage

/// A connected pair of sockets between processes, over which an open file can be passed.
public struct Connection: Sendable {
  public let ours: FileDescriptor
  public let theirs: FileDescriptor

  public init() throws(FileError) {
    var ends: [Int32] = [-1, -1]
    let code = scanmill_socket_pair(&ends)
    guard code == 0 else {
      throw FileError(Errno(rawValue: code), path: "connection", operation: "make")
    }
    ours = FileDescriptor(rawValue: ends[0])
    theirs = FileDescriptor(rawValue: ends[1])
  }

  /// Passes an open file to the process at the other end of `connection`.
  public static func give(_ file: FileDescriptor, over connection: FileDescriptor) throws(Errno) {
    let code = scanmill_send_descriptor(connection.rawValue, file.rawValue)
    if code != 0 { throw Errno(rawValue: code) }
  }

  /// What was received from the other end of a connection.
  public enum Gift: Sendable {
    case file(FileDescriptor)
    /// The other end is closed.
    case end
    /// The descriptor is a file or a pipe, over which no file can be passed.
    case none
  }

  /// Waits until something is received. The caller closes the file.
  public static func take(from connection: FileDescriptor) throws(Errno) -> Gift {
    var number: Int32 = -1
    switch scanmill_take_descriptor(connection.rawValue, &number) {
    case 0: return .file(FileDescriptor(rawValue: number))
    case -1: return .end
    case Errno.notSocket.rawValue: return .none
    case let code: throw Errno(rawValue: code)
    }
  }

  /// Whether reading would not block.
  public static func isReadable(_ connection: FileDescriptor) -> Bool {
    scanmill_is_readable(connection.rawValue) != 0
  }
}
