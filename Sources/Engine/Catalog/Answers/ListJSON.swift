import Core

/// JSON documents whose `captures` are thousands: encoded on all cores, with the bytes that one core would
/// give.
enum ListJSON {
  private static let share = 128
  private static let mark = Array(#""captures" : ["#.utf8)

  /// - Parameter document: the same without any captures.
  static func pretty(
    _ document: some Encodable, captures: [some Encodable & Sendable]
  ) throws -> [UInt8] {
    let frame = try JSONText.pretty(document)
    guard !captures.isEmpty, let start = frame.firstRange(of: mark),
      let end = frame[start.upperBound...].firstIndex(of: UInt8(ascii: "]"))
    else { return frame }
    let shares = (captures.count + share - 1) / share
    let pieces = try concurrentMap(count: shares) { number in
      let part = Array(captures[number * share..<min(captures.count, (number + 1) * share)])
      return inner(try JSONText.pretty(part))
    }
    var bytes = Array(frame[..<start.upperBound])
    bytes.reserveCapacity(frame.count + pieces.reduce(0) { $0 + $1.count + 1 })
    for (number, piece) in pieces.enumerated() {
      if number > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += piece
    }
    bytes += Array("\n  ".utf8)
    bytes += frame[end...]
    return bytes
  }

  /// What stands between the brackets of a list, two blanks further right.
  private static func inner(_ list: [UInt8]) -> [UInt8] {
    guard let first = list.firstIndex(of: UInt8(ascii: "\n")),
      let last = list.dropLast().lastIndex(of: UInt8(ascii: "\n"))
    else { return [] }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(list.count * 5 / 4)
    var start = first
    while start < last {
      let end = list[(start + 1)..<last].firstIndex(of: UInt8(ascii: "\n")) ?? last
      bytes.append(UInt8(ascii: "\n"))
      // Texts in JSON hold no line ends; empty lists hold an empty line.
      if end > start + 1 {
        bytes.append(UInt8(ascii: " "))
        bytes.append(UInt8(ascii: " "))
      }
      bytes += list[(start + 1)..<end]
      start = end
    }
    return bytes
  }
}

/// The document of a verb that lists captures where it ends without any: an empty list, and the reason under `error`.
public struct EmptyAnswer: Encodable, Sendable {
  private let document: any Encodable & Sendable
  private let reason: String

  private enum Key: CodingKey { case error }

  public func encode(to encoder: any Encoder) throws {
    try document.encode(to: encoder)
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(reason, forKey: .error)
  }

  public static func run(_ reason: String) -> EmptyAnswer {
    var report = RunReport(run: "none")
    report.exit = ExitStatus.noCapture
    return EmptyAnswer(document: report, reason: reason)
  }

  public static func status(_ reason: String) -> EmptyAnswer {
    EmptyAnswer(document: StatusAnswer(rows: [], watch: nil, unrecognized: []), reason: reason)
  }

  public static func report(
    _ reason: String, program: ProgramIdentity, host: String
  ) -> EmptyAnswer {
    let now = UTCText.text(nanoseconds: FileStamp.nowNanoseconds())
    return EmptyAnswer(
      document: NightReport(
        from: now, to: now, program: program, host: host, pipeline: "default",
        free: NightReport.FreeSpace(bytes: 0, inodes: nil)), reason: reason)
  }

  /// - Parameter plans: whether it is the list of a dry run, which says with what plans are compared.
  public static func list(_ reason: String, plans: Bool = false) -> EmptyAnswer {
    var document: JSONObject = ["schema": 1, "captures": [String]()]
    if plans { document["comparedWith"] = ComparisonNotion.commandLine }
    return EmptyAnswer(document: document, reason: reason)
  }

  /// - Parameter capture: as the command line names it.
  public static func explanation(_ reason: String, of capture: String) -> EmptyAnswer {
    let document: JSONObject = [
      "schema": 1, "capture": capture, "pipeline": "",
      "comparedWith": ComparisonNotion.commandLine, "stages": [String](), "notes": [String](),
    ]
    return EmptyAnswer(document: document, reason: reason)
  }
}
