import Foundation
import Glibc
import SystemPackage
import Testing

/// A connection that sends bytes as they stand, as the apps do, not as a library for HTTP would.
public final class RawConnection {
  private let descriptor: Int32
  private var isOpen = true
  private var received: [UInt8] = []

  public struct Refused: Error {}

  /// - Parameter source: the own address; all of 127.0.0.0/8 are this machine's.
  public init(port: Int, from source: String = "127.0.0.1") throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var own = sockaddr_in()
    own.sin_family = sa_family_t(AF_INET)
    own.sin_addr.s_addr = inet_addr(source)
    _ = withUnsafePointer(to: &own) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = in_port_t(UInt16(port)).bigEndian
    target.sin_addr.s_addr = inet_addr("127.0.0.1")
    let code = withUnsafePointer(to: &target) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else {
      close(descriptor)
      isOpen = false
      throw Refused()
    }
    // No test waits for ever. The server shares the threads of tasks with tests that compute: while all of them
    // are busy it answers late.
    var limit = timeval(tv_sec: 2300, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { end() }

  /// Closes it, in the middle of whatever there is.
  public func end() {
    if isOpen { close(descriptor) }
    isOpen = false
  }

  /// Says that nothing more comes, and still hears.
  public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Whether everything could be sent.
  @discardableResult
  public func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  @discardableResult
  public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  public struct Answer: Equatable {
    public var status: Int
    /// In lower case.
    public var fields: [String: String]
    public var body: String

    public var message: String? {
      (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        .flatMap { $0["message"] as? String }
    }
  }

  private func fill() -> Bool {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &piece, piece.count, 0)
    guard count > 0 else { return false }
    received += piece[..<count]
    return true
  }

  /// The next answer, with its body, which answers to HEAD do not have; `nil` if the connection ends before.
  public func answer(toHead: Bool = false) -> Answer? {
    var end: Int?
    while end == nil {
      end = received.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound
      if end == nil, !fill() { return nil }
    }
    guard let end else { return nil }
    let lines = String(decoding: received[..<(end - 4)], as: UTF8.self).components(
      separatedBy: "\r\n")
    let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon].lowercased()] = line[line.index(after: colon)...]
        .trimmingCharacters(in: .whitespaces)
    }
    received.removeFirst(end)
    let length = toHead ? 0 : fields["content-length"].flatMap { Int($0) } ?? 0
    while received.count < length { if !fill() { return nil } }
    let body = String(decoding: received[..<length], as: UTF8.self)
    received.removeFirst(length)
    return Answer(status: status, fields: fields, body: body)
  }

  /// Whether the other side ends the connection; waits for it.
  public func isEnded() -> Bool {
    while fill() {}
    return true
  }
}

/// A pipe under a name that is full and that nobody reads: who writes to it waits for ever.
public final class FullPipe {
  public let path: FilePath
  private let descriptor: Int32

  public init(at path: FilePath) throws(Errno) {
    self.path = path
    guard path.withPlatformString({ mkfifo($0, 0o600) }) == 0 else {
      throw Errno(rawValue: errno)
    }
    // Also its reader: opening it for writing does not wait.
    descriptor = path.withPlatformString { open($0, O_RDWR | O_NONBLOCK | O_CLOEXEC) }
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    for count in [4096, 1] {
      let bytes = [UInt8](repeating: UInt8(ascii: "."), count: count)
      while write(descriptor, bytes, count) > 0 {}
    }
  }

  deinit { close(descriptor) }
}
