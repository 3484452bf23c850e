/// The value of a parameter in the unit of its kind.
public enum ParameterValue: Hashable, Sendable {
  case flag(Bool)
  case integer(Int)
  case number(Double)
  case text(String)
  case duration(nanoseconds: Int64)
  case length(meters: Double)
  /// In meters, both ends inclusive.
  case lengths(ClosedRange<Double>)
  /// A list of texts, for argument vectors.
  case list([String])

  /// Text for people, in the form in which it can be set: lengths and durations with unit.
  public var text: String {
    switch self {
    case .length(let meters): LengthText.text(meters: meters)
    case .lengths(let range): LengthText.text(range)
    case .flag, .integer, .number, .text, .duration, .list: json.plainText
    }
  }

  /// The form in `artifact.json` and in the fingerprint.
  public var json: JSONValue {
    switch self {
    case .flag(let value): .bool(value)
    case .integer(let value): .integer(Int64(value))
    case .number(let value): .number(value)
    case .text(let value): .string(value)
    case .duration(let nanoseconds): .string(DurationSyntax.text(nanoseconds: nanoseconds))
    case .length(let meters): .number(meters)
    case .lengths(let range): .string("\(range.lowerBound)m..\(range.upperBound)m")
    case .list(let values): .array(values.map(JSONValue.string))
    }
  }
}
