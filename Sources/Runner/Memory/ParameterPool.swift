import FoundationEssentials
import Pipeline
import Synchronization

/// Decoded JSON objects by their bytes: thousands of captures share a few sets of parameters.
final class ParameterPool: Sendable {
  private let known = Mutex<[[UInt8]: [String: JSONValue]]>([:])
  /// Enough for the stages of a pipeline in many versions; beyond it every object is decoded.
  private static let most = 512

  func object(_ bytes: [UInt8]) throws -> [String: JSONValue] {
    if let known = known.withLock({ $0[bytes] }) { return known }
    let object = try JSONDecoder().decode([String: JSONValue].self, from: Data(bytes))
    known.withLock { if $0.count < Self.most { $0[bytes] = object } }
    return object
  }
}
