import Core

/// What a server does, as told on its command line.
public struct ReceiverSettings: Sendable {
  /// Without `nil` values: 0 is no limit.
  public var host = "127.0.0.1"
  /// 0 for any free one.
  public var port = 8000
  /// A socket that listens already, in place of host and port.
  public var inheritedSocket: Int32?
  /// Paths in front of everything, without a slash at the end; `/multiscan` is always one.
  public var prefixes: [String] = []
  public var maximumConnections = 256
  public var connectionsPerAddress = 64
  /// How many connections beyond these limits are open at a time, to be told so.
  var refusedConnections = 256
  /// Seconds until the header of a request must be there.
  public var headerTimeout = 30.0
  /// Seconds without a byte.
  public var idleTimeout = 60.0
  /// Bytes per second, over `rateWindow`.
  public var minimumRate: Int64 = 1024
  var rateWindow = 60.0
  /// Seconds that a connection may be idle between two requests.
  var keepAlive = 90.0
  /// Seconds after which a connection over which nothing is asked gives way to a new one, when there are too many.
  var yieldSeconds = 5.0
  /// After an early refusal: how much is read and dropped, and how long the connection stays, so that the answer arrives.
  var lingerBytes = 1 << 20
  var lingerSeconds = 2.0
  /// Seconds that uploads have after the server was told to end.
  public var grace = 30.0
  /// Addresses whose `X-Forwarded-For` is believed.
  public var trustedProxies: Set<String> = []

  public init() {}

  /// Whether only this machine can reach the address.
  public static func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".")
    let isIPv4 = parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0) != nil }
    return host == "localhost" || host == "::1" || isIPv4
  }
}
