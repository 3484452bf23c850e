import NIOCore
import Synchronization

/// Counts connections, in all and by address, and closes them all in the end.
final class ConnectionTally: Sendable {
  enum Admission: Sendable {
    case admitted
    /// To be answered that there are too many.
    case refused
    /// Not even that.
    case dropped
  }

  private struct Counts {
    var all = 0
    var byAddress: [String: Int] = [:]
    var channels: [ObjectIdentifier: any Channel] = [:]
  }

  private let counts = Mutex(Counts())
  private let most: Int
  private let mostPerAddress: Int
  private let exempt: Set<String>
  /// How many connections beyond the limit are answered.
  private static let answered = 32

  init(_ settings: ReceiverSettings) {
    most = settings.maximumConnections
    mostPerAddress = settings.connectionsPerAddress
    exempt = settings.trustedProxies
  }

  func enter(_ address: String, _ channel: any Channel) -> Admission {
    counts.withLock { counts in
      counts.channels[ObjectIdentifier(channel as AnyObject)] = channel
      counts.all += 1
      counts.byAddress[address, default: 0] += 1
      if most > 0, counts.all > most + Self.answered { return .dropped }
      if most > 0, counts.all > most { return .refused }
      let own = counts.byAddress[address] ?? 0
      if mostPerAddress > 0, !exempt.contains(address), own > mostPerAddress {
        return own > mostPerAddress + Self.answered ? .dropped : .refused
      }
      return .admitted
    }
  }

  func leave(_ address: String, _ channel: any Channel) {
    counts.withLock { counts in
      counts.channels[ObjectIdentifier(channel as AnyObject)] = nil
      counts.all -= 1
      let left = (counts.byAddress[address] ?? 1) - 1
      counts.byAddress[address] = left > 0 ? left : nil
    }
  }

  /// Closes every connection, whatever goes on there.
  func closeAll() {
    for channel in counts.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }
}
