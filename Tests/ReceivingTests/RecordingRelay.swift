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
  var port: Int { listener.port }
  private let listener: LoopbackListener
  private let target: Int
  private let list = Mutex<[Entry]>([])
  private let ended = Mutex(0)

  /// - Parameter target: the port of the receiver.
  init(to target: Int) throws {
    listener = try LoopbackListener()
    self.target = target
    listener.start { [self] in hand($0) }
  }

  /// Takes no more connections. Those that are open end with their client.
  func end() { listener.end() }

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

  private func hand(_ client: Int32) {
    let receiver = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = LoopbackListener.address(target)
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(receiver, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else {
      close(client)
      close(receiver)
      return
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
