import Core
import FoundationEssentials

/// Why bytes are not a report of `bench --json`, as the end of a sentence that begins with the name
/// of the file.
public struct ReportProblem: Error, Hashable, CustomStringConvertible {
  public var description: String

  /// - Parameters:
  ///   - json: what was read.
  ///   - error: why it is not a report.
  init(of json: [UInt8], _ error: any Error) {
    let data = Data(json)
    guard !json.isEmpty else {
      description = "is empty"
      return
    }
    guard let content = try? Content(json: data) else {
      description =
        (try? AnyJSON(json: data)) == nil
        ? "is not JSON, or was cut off" : "is JSON, but no JSON object"
      return
    }
    description = content.other ?? Self.sentence(error)
  }

  private init(_ description: String) { self.description = description }

  /// A report of a program that is newer than this one.
  static func later(schema: Int) -> ReportProblem {
    ReportProblem("is a report with schema \(schema); this program reads schema 1")
  }

  private static func sentence(_ error: any Error) -> String {
    func place(_ path: [any CodingKey]) -> String {
      path.reduce(into: "") { text, key in
        if let index = key.intValue {
          text += "[\(index)]"
        } else {
          text += (text.isEmpty ? "" : ".") + key.stringValue
        }
      }
    }
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      return "is no whole report: the key '\(place(context.codingPath + [key]))' is not there"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context):
      return "is no whole report: the value of '\(place(context.codingPath))' is of another type"
    default: return "is no whole report"
    }
  }

  /// Any value of JSON.
  private struct AnyJSON: Decodable {
    init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer() }
  }

  /// Keys that tell documents of this program apart.
  private struct Content: Decodable {
    private let keys: Set<String>

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      keys = Set(try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue))
    }

    /// What the document is, if it is certainly no report.
    var other: String? {
      if keys.isSuperset(of: ["tolerance", "lines"]) {
        return "is the comparison of two reports, not a report"
      }
      let isReport = !keys.isDisjoint(with: ["machine", "settings"])
      if isReport { return nil }
      if keys.isSuperset(of: ["run", "captures"]) { return "is the result of a run, not a report" }
      if keys.contains("fingerprint") { return "is the record of an artifact, not a report" }
      if keys.contains("streams") { return "is the description of a capture, not a report" }
      guard !keys.isEmpty else { return "is an empty JSON object" }
      let some = keys.sorted().prefix(3).map { "'\($0)'" }.joined(separator: ", ")
      return "has none of the keys of a report (it begins with \(some))"
    }
  }
}
