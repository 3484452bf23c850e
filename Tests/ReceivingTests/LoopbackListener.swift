import Foundation
import Glibc

/// A socket that listens on this machine, on a port that was free.
struct LoopbackListener: Sendable {
  struct NoSocket: Error {}

  let port: Int
  private let listener: Int32

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard isListening else {
      close(listener)
      throw NoSocket()
    }
    self.listener = listener
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port)).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
  }

  /// Hands over each connection, on a thread of its own, until `end`.
  func start(_ serve: @escaping @Sendable (Int32) -> Void) {
    Thread.detachNewThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else {
          // Here, not where it is ended: its number would be that of another test's socket.
          close(listener)
          return
        }
        serve(client)
      }
    }
  }

  /// Takes no more connections. Those that are open end with their client.
  func end() { shutdown(listener, Int32(SHUT_RDWR)) }
}
