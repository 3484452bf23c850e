import FoundationEssentials
import Core
import Synchronization

/// Decoded JSON objects by their bytes: thousands of captures share a few sets of parameters and
/// versions.
package final class ParameterPool: Sendable {
  private let objects = Pool<[String: JSONValue]>()
  private let textObjects = Pool<[String: String]>()
  private let programs = Pool<ProgramIdentity>()

  private let noted = Mutex<[Digest: Requests]>([:])
  private let mostNoted = 512

  init() {}

  /// The requests of this digest; `read` is called for those that are not known yet.
  package func requests(_ digest: Digest, read: () -> Requests?) -> Requests? {
    if let known = noted.withLock({ $0[digest] }) { return known }
    guard let requests = read(), requests.digest == digest else { return nil }
    noted.withLock { if $0.count < mostNoted { $0[digest] = requests } }
    return requests
  }

  func object(_ bytes: [UInt8]) throws -> [String: JSONValue] { try objects.value(bytes) }

  /// Nothing for no bytes.
  package func texts(_ bytes: [UInt8]) throws -> [String: String] {
    bytes.isEmpty ? [:] : try textObjects.value(bytes)
  }

  /// `nil` for no bytes.
  package func program(_ bytes: [UInt8]) throws -> ProgramIdentity? {
    bytes.isEmpty ? nil : try programs.value(bytes)
  }
}

private final class Pool<Value: Decodable & Sendable>: Sendable {
  private let known = Mutex<[[UInt8]: Value]>([:])
  /// Enough for the stages of a pipeline in many versions; beyond it every object is decoded.
  private let most = 512

  func value(_ bytes: [UInt8]) throws -> Value {
    if let known = known.withLock({ $0[bytes] }) { return known }
    let value = try JSONDecoder().decode(Value.self, from: Data(bytes))
    known.withLock { if $0.count < most { $0[bytes] = value } }
    return value
  }
}
