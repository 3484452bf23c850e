import FoundationEssentials
import Glibc
import SystemPackage

/// Reads events out of `events.jsonl`: the one reader of it.
package enum RunEventReader {
  /// Longer lines are none of ours.
  private static let mostLineBytes = 1 << 22

  /// Calls `body` with every event of one of `kinds`, in the order of the file. Lines that cannot be read, such
  /// as the last one of a killed run, are left out.
  ///
  /// Cost: one pass over the file; only lines of these kinds are decoded. Memory: the longest line.
  package static func read(
    _ events: FileDescriptor, of kinds: [RunEvent.Kind], _ body: (RunEvent) -> Void
  ) {
    let values = kinds.map { Array(#"\#($0.rawValue)""#.utf8) }
    let decoder = JSONDecoder()
    func take(_ line: ArraySlice<UInt8>) {
      guard isOne(of: values, line),
        let event = try? decoder.decode(RunEvent.self, from: Data(line))
      else { return }
      body(event)
    }
    let file = events.rawValue
    var rest: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = buffer.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      var start = 0
      while let end = buffer[start..<count].firstIndex(of: UInt8(ascii: "\n")) {
        if rest.isEmpty {
          take(buffer[start..<end])
        } else {
          rest += buffer[start..<end]
          take(rest[...])
          rest.removeAll(keepingCapacity: true)
        }
        start = end + 1
      }
      if rest.count < mostLineBytes { rest += buffer[start..<count] }
    }
  }

  private static let key = Array(#""kind":""#.utf8)

  /// Whether the kind of an event is one of `values`, each with the quotation mark behind it: many times as fast
  /// as decoding the line.
  private static func isOne(of values: [[UInt8]], _ line: ArraySlice<UInt8>) -> Bool {
    line.withUnsafeBytes { line in
      guard let start = line.baseAddress else { return false }
      var at = 0
      while let quote = memchr(start + at, Int32(UInt8(ascii: "\"")), line.count - at) {
        at = quote - UnsafeMutableRawPointer(mutating: start)
        // In a message the quotation marks around a key are escaped.
        if line[at...].starts(with: key) {
          let value = line[(at + key.count)...]
          return values.contains { value.starts(with: $0) }
        }
        at += 1
      }
      return false
    }
  }
}
