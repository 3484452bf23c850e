import Foundation
import Synchronization
import Glibc

/// Between a client and a receiver: hands on the bytes of both, and notes them in their order. What is noted of a request
/// stands before what is noted of its answer.
final class RecordingRelay: Sendable {
  enum Side: Sendable { case client, receiver }

  enum Entry: Sendable, Equatable {
    case bytes(Side, [UInt8])
    /// A sentence between them.
    case remark(String)
  }

  /// That the client connects to.
  let port: Int
  private let listener: Int32
  private let target: Int
  private let list = Mutex<[Entry]>([])
  private let ended = Mutex(0)

  struct NoSocket: Error {}

  /// - Parameter target: the port of the receiver.
  init(to target: Int) throws {
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
    self.target = target
    self.listener = listener
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [self] in accept() }
  }

  /// Takes no more connections. Those that are open end with their client.
  func end() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// What was noted, neighbors of one side in one piece.
  var entries: [Entry] {
    list.withLock { list in
      var merged: [Entry] = []
      for entry in list {
        if case .bytes(let side, let more) = entry, case .bytes(side, let before)? = merged.last {
          merged[merged.count - 1] = .bytes(side, before + more)
        } else {
          merged.append(entry)
        }
      }
      return merged
    }
  }

  /// How many clients have ended their connection. The receiver then has all that they sent, and their end.
  var endedClients: Int { ended.withLock { $0 } }

  func remark(_ sentence: String) { list.withLock { $0.append(.remark(sentence)) } }

  private static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port)).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
  }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else {
        // Here, not where it is ended: its number would be that of another test's socket.
        close(listener)
        return
      }
      let receiver = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.address(target)
      let code = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(receiver, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard code == 0 else {
        close(client)
        close(receiver)
        continue
      }
      // The last of both directions closes.
      let ends = Ends(client: client, receiver: receiver)
      let count = Counter(2)
      for side in [Side.client, .receiver] {
        Thread.detachNewThread { [self] in
          copy(of: side, ends)
          if count.isLast() {
            close(client)
            close(receiver)
          }
        }
      }
    }
  }

  private final class Ends: Sendable {
    let client: Int32
    let receiver: Int32
    /// What the receiver says after its client has gone is heard by no client, and not noted.
    let isClientGone = Mutex(false)

    init(client: Int32, receiver: Int32) {
      (self.client, self.receiver) = (client, receiver)
    }
  }

  private final class Counter: Sendable {
    private let left: Mutex<Int>
    init(_ count: Int) { left = Mutex(count) }
    func isLast() -> Bool {
      left.withLock {
        $0 -= 1
        return $0 == 0
      }
    }
  }

  private func copy(of side: Side, _ ends: Ends) {
    let (from, to) =
      side == .client ? (ends.client, ends.receiver) : (ends.receiver, ends.client)
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(from, &piece, piece.count, 0)
      guard count > 0 else { break }
      if side == .client || !ends.isClientGone.withLock({ $0 }) {
        list.withLock { $0.append(.bytes(side, Array(piece[..<count]))) }
      }
      var sent = 0
      while sent < count {
        let more = piece.withUnsafeBytes {
          Glibc.send(to, $0.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
        }
        guard more > 0 else { break }
        sent += more
      }
      if sent < count { break }
    }
    // Before the receiver can know.
    if side == .client { ends.isClientGone.withLock { $0 = true } }
    shutdown(to, Int32(SHUT_WR))
    if side == .client { ended.withLock { $0 += 1 } }
  }
}
