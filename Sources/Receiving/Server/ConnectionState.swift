import NIOCore
import Synchronization

/// What is known of one connection, shared by its handlers and by whoever answers its requests.
final class ConnectionState: Sendable {
  struct Fields: Sendable {
    var bytes: Int64 = 0
    var lastByte = NIODeadline.now()
    /// Requests that were handed to whoever answers them.
    var begun = 0
    var headsSeen = 0
    var endsSeen = 0
    var answered = 0
    /// When the first byte of a header came; `nil` between requests.
    var headerSince: NIODeadline?
    /// Since when nothing was asked.
    var idleSince = NIODeadline.now()
    /// Whether a route waits for bytes of a body, and since when.
    var waitingSince: NIODeadline?
    /// Bytes at each look while one waited.
    var samples: [Int64] = []
    /// Since when an answer is being written.
    var writingSince: NIODeadline?
    var isLingering = false
    /// Whether there are too many connections already.
    var isRefused = false

    /// Whether a request was handed to whoever answers, and the answer is not written.
    var isAnswering: Bool { begun > answered }

    /// Since when nothing is asked or answered, apart from a header that does not end.
    var restingSince: NIODeadline? {
      headsSeen > answered || isLingering ? nil : max(idleSince, headerSince ?? idleSince)
    }

    /// This process, or its machine, has slept: time in which nothing could be read is not held against the other side.
    mutating func leaveOut(_ slept: TimeAmount) {
      let now = NIODeadline.now()
      func later(_ time: NIODeadline) -> NIODeadline { min(time + slept, now) }
      lastByte = later(lastByte)
      idleSince = later(idleSince)
      headerSince = headerSince.map(later)
      waitingSince = waitingSince.map(later)
      writingSince = writingSince.map(later)
      samples = []
    }
  }

  let address: String
  private let fields = Mutex(Fields())

  /// - Parameter address: of the other side; one of IPv4 that a socket for both kinds tells as `::ffff:192.0.2.7` is noted
  ///   as people write it, and as it is compared with.
  init(address: String) {
    let mark = "::ffff:"
    let rest = address.dropFirst(mark.utf8.count)
    self.address = address.hasPrefix(mark) && rest.contains(".") ? String(rest) : address
  }

  func with<Result: Sendable>(_ body: (inout Fields) -> Result) -> Result {
    fields.withLock { fields in body(&fields) }
  }
}

/// Why a body ended before its end.
enum BodyError: Error {
  /// No byte for too long.
  case stalled
  /// Too few bytes for too long.
  case slow
  /// The connection ended, or what came is not HTTP.
  case cut
}
