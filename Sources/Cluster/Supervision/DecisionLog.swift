import FoundationEssentials
import Engine
import Core
import SystemPackage

/// How captures of a run ended: `decided.jsonl`. A process that continues the run need not decide
/// again.
final class DecisionLog {
  struct Line: Codable {
    var name: String
    var outcome: CaptureOutcome
  }

  static let name = "decided.jsonl"
  private let file: FileDescriptor

  init(_ files: RunFiles) throws(FileError) {
    file = try HeldFolder.following(files.folder).append(to: Self.name)
  }

  deinit { try? file.close() }

  /// Write errors are ignored: the next process then decides again.
  func append(_ name: String, _ outcome: CaptureOutcome) {
    guard let bytes = try? JSONText.canonical(Line(name: name, outcome: outcome)) else {
      return
    }
    _ = try? (bytes + [UInt8(ascii: "\n")]).withUnsafeBytes { try file.writeAll($0) }
  }

  static func read(_ files: RunFiles) -> [String: CaptureOutcome] {
    guard
      let bytes = try? HeldFolder.following(files.folder).contents(of: name, limit: 1 << 30)
    else { return [:] }
    var decided: [String: CaptureOutcome] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let decision = try? JSONDecoder().decode(Line.self, from: Data(line)) else {
        continue
      }
      decided[decision.name] = decision.outcome
    }
    return decided
  }
}
