import CPlatform
import Glibc
import Synchronization
import SystemPackage

/// A pipe whose ends are inherited only by programs that they are passed to.
public struct Pipe: Sendable {
  public let reading: FileDescriptor
  public let writing: FileDescriptor

  public init() throws(FileError) {
    var ends: [Int32] = [-1, -1]
    let code = scanmill_pipe(&ends)
    guard code == 0 else {
      throw FileError(Errno(rawValue: code), path: "pipe", operation: "make")
    }
    reading = FileDescriptor(rawValue: ends[0])
    writing = FileDescriptor(rawValue: ends[1])
  }
}

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

/// A file in memory, without a name, as a standard stream of a program. It disappears with its
/// last descriptor, and unlike a pipe it cannot break when a program does not read to the end.
public enum MemoryFile {
  /// A file that holds these bytes, positioned at the start. The caller closes it.
  public static func of(_ bytes: [UInt8]) throws(FileError) -> FileDescriptor {
    let number = scanmill_memory_file()
    guard number >= 0 else { throw failure(Errno(rawValue: errno)) }
    let file = FileDescriptor(rawValue: number)
    do {
      try file.writeAll(bytes)
      try file.seek(offset: 0, from: .start)
      return file
    } catch {
      try? file.close()
      throw failure(error as? Errno ?? .ioError)
    }
  }

  /// All that a program has written to one.
  public static func contents(_ file: FileDescriptor) -> [UInt8] {
    guard let found = try? FileStatus(file) else { return [] }
    let size = Int(clamping: found.bytes)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      while count < size {
        let got = pread(
          file.rawValue, bytes.baseAddress.map { $0 + count }, size - count, off_t(count))
        guard got > 0 else { return }
        count += got
      }
    }
  }

  private static func failure(_ code: Errno) -> FileError {
    FileError(code, path: "memory", operation: "make")
  }
}

/// Reads lines from a descriptor as they arrive.
public struct LineReader: Sendable {
  private let descriptor: FileDescriptor
  private var buffer: [UInt8] = []
  private var isAtEnd = false

  public init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
  }

  /// Waits for the next line and returns it without its line end; `nil` at the end of the stream. A
  /// last line without line end is dropped, because its writer did not finish it.
  public mutating func next() -> [UInt8]? {
    var searched = 0
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(buffer[..<end])
        buffer.removeFirst(end + 1)
        return line
      }
      searched = buffer.count
      guard !isAtEnd else { return nil }
      let piece = try? [UInt8](unsafeUninitializedCapacity: 65536) { bytes, count in
        count = try descriptor.read(into: UnsafeMutableRawBufferPointer(bytes))
      }
      buffer += piece ?? []
      isAtEnd = piece?.isEmpty ?? true
    }
  }
}

/// Writes whole lines to a descriptor, from several threads.
public final class LineWriter: Sendable {
  private let descriptor: FileDescriptor
  private let turn = Mutex<Void>(())

  public init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
  }

  /// Returns `false` once the other end is closed.
  ///
  /// - Parameter durably: waits until the line is on the disk.
  @discardableResult
  public func write(_ line: [UInt8], durably: Bool = false) -> Bool {
    turn.withLock { _ in
      let isWritten = (try? descriptor.writeAll(line + [UInt8(ascii: "\n")])) != nil
      if durably { fsync(descriptor.rawValue) }
      return isWritten
    }
  }

  public func close() {
    turn.withLock { _ in try? descriptor.close() }
  }
}
