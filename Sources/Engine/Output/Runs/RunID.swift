import Core
import Glibc
import SystemPackage

/// The id of a run: `20261122T013000-4711-9f8e7d6c-3a5b1f`, which sorts by time.
///
/// Behind the time: the process, where its number counts (`ProcessHome`), and a random part, so that runs
/// of several machines and containers into one output never share an id. Holds no dot.
public struct RunID: Hashable, Sendable {
  public let text: String
  package let process: Int32
  let home: String

  /// A new one that is not alive any more when this process has ended. Two calls never give the same, on
  /// no machine.
  ///
  /// - Parameter wallText: UTC, ISO 8601.
  init(wallText: String) {
    let time = wallText.filter { $0.isNumber || $0 == "T" }.prefix(15)
    let salt = UInt32.random(in: 0..<(1 << 24)).padded(6, radix: 16)
    process = getpid()
    home = ProcessHome.current
    text = "\(time)-\(process)-\(ProcessHome.current)-\(salt)"
  }

  /// Fails if the text is no id of ours.
  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    func isHex(_ text: String, _ count: Int) -> Bool {
      text.utf8.count == count && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
    let time = Array(parts[0].utf8)
    guard parts.count == 4, isHex(parts[2], 8), isHex(parts[3], 6),
      time.count == 15, time[8] == UInt8(ascii: "T"),
      (time[..<8] + time[9...]).allSatisfy(\.isDigit),
      parts[1].utf8.allSatisfy(\.isDigit), let process = Int32(parts[1])
    else { return nil }
    self.text = text
    self.process = process
    home = parts[2]
  }

  /// When it was made, by its own text, in nanoseconds since 1970; `nil` for a time that does not exist.
  package var madeNanoseconds: Int64? { Self.timeText(of: text).flatMap(UTCText.nanoseconds) }

  /// `20261122T013000-…` as `2026-11-22T01:30:00Z`; `nil` for what does not begin like an id.
  static func timeText(of id: String) -> String? {
    let digits = Array(id.utf8.prefix(15))
    guard digits.count == 15, digits[8] == UInt8(ascii: "T") else { return nil }
    let text = String(decoding: digits, as: UTF8.self)
    func part(_ from: Int, _ count: Int) -> Substring { text.dropFirst(from).prefix(count) }
    return
      "\(part(0, 4))-\(part(4, 2))-\(part(6, 2))T\(part(9, 2)):\(part(11, 2)):\(part(13, 2))Z"
  }

  /// Whether the process that made it may still be at work. One of another machine, container or boot cannot be asked:
  /// what it has not written to for a day is at work no more.
  package func mayGoOn(secondsSinceChange seconds: Int64) -> Bool { isAlive ?? (seconds < 86400) }

  /// Whether the process that made it still runs; `nil` where that cannot be told from here.
  package var isAlive: Bool? {
    home == ProcessHome.current ? ProcessHome.isAlive(process) : nil
  }
}
