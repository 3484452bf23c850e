import Core
import Synchronization

/// Decoded JSON objects by their bytes: thousands of captures share a few sets of parameters and
/// versions.
final class ParameterPool: Sendable {
  private struct Key: Hashable {
    var type: ObjectIdentifier
    var bytes: [UInt8]
  }

  private let objects = Mutex<[Key: any Sendable]>([:])
  private let noted = Mutex<[Digest: Requests]>([:])
  /// Enough for the stages of a pipeline in many versions; beyond it every object is decoded.
  private let most = 1536

  /// The requests of this digest; `read` is called for those that are not known yet.
  func requests(_ digest: Digest, read: () -> Requests?) -> Requests? {
    if let known = noted.withLock({ $0[digest] }) { return known }
    guard let requests = read(), requests.digest == digest else { return nil }
    noted.withLock { if $0.count < most { $0[digest] = requests } }
    return requests
  }

  func value<Value: Decodable & Sendable>(_ bytes: [UInt8]) throws -> Value {
    let key = Key(type: ObjectIdentifier(Value.self), bytes: bytes)
    if let known = objects.withLock({ $0[key] }) as? Value { return known }
    let value = try Value(json: bytes)
    objects.withLock { if $0.count < most { $0[key] = value } }
    return value
  }
}
