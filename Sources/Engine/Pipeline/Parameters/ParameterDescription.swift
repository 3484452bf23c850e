import Core

/// What is said of a parameter of a stage: the single source of checks, defaults and help. Stages declare it as a
/// `Parameter`.
public struct ParameterDescription: Sendable {
  public enum Kind: Sendable {
    case flag
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case choice([String])
    /// A time in nanoseconds.
    case duration(ClosedRange<Int64>)
    /// In nanoseconds, or the text `auto`.
    case durationOrAuto(ClosedRange<Int64>)
    /// A length, or a range of lengths, in meters.
    case length(ClosedRange<Double>)
    /// A length, or a range of lengths, in meters.
    case lengthRange
    case text
    /// A text by rules of its own; its value is the one spelling of all texts that mean the same, `nil` for a text that
    /// is against the rules.
    case spelled(domain: String, @Sendable (String) -> String?)
    /// A file whose content is part of the fingerprint.
    case file
    /// A folder from which the stage chooses a file.
    case folder
    /// A YAML list of texts.
    case list
  }

  /// The value of a `durationOrAuto` that is no duration.
  static let auto = "auto"

  public var name: String
  public var kind: Kind
  /// The default; `nil` if there is none.
  public var standard: ParameterValue?
  public var sentence: String
  /// Whether it holds `NAME=VALUE` texts whose values must not appear in records.
  var isSecret = false
  /// Unit of a plain number, such as `px`; `nil` if there is none, or if the kind implies it.
  var numberUnit: String?
  /// Whether it stands last in lists: hardly anybody needs another value than the default.
  public internal(set) var isForExperts = false
  /// Whether it follows a parameter of another stage (`sharedName`), which sets it: lists for people leave it out.
  public internal(set) var isFollowing = false
  /// Whether records state it only where it has another value than its default, so that results from before it was
  /// added stay up to date.
  package internal(set) var isSilent = false
  /// The values of other parameters with which this one has an effect, one of these is enough; empty: always.
  var conditions: [Condition] = []
  /// The port through which it takes something, where that is all of its effect.
  var port: String?
  /// The name under which it is set for several stages at once, such as `imu.margin`.
  public internal(set) var sharedName: SharedName?

  /// The values of another parameter. An empty text stands for a parameter that is not set; without values, it needs
  /// another value than its default.
  struct Condition: Sendable {
    var parameter: String
    var values: [String] = []
  }

  /// A parameter of several stages that is set once, under the name of another stage.
  public struct SharedName: Hashable, Sendable {
    public var stage: String
    public var parameter: String
  }

  public init(
    _ name: String, _ kind: Kind, default standard: ParameterValue? = nil, _ sentence: String
  ) {
    self.name = name
    self.kind = kind
    self.standard = standard
    self.sentence = sentence
  }

  /// What is missing for an effect of the value that it has in `stage`; `nil`: nothing.
  ///
  /// - Parameter outer: the stage that `stage` is a step of.
  func problem(in stage: StageDefinition, _ outer: StageDefinition?) -> StageProblem? {
    guard stage.parameters[name] != standard else { return nil }
    var words: [String] = []
    for condition in conditions {
      let parameter = condition.parameter
      for owner in [stage, outer].compactMap(\.self) {
        guard let description = owner.kind.parameters.first(where: { $0.name == parameter }) else {
          continue
        }
        let value = owner.parameters[parameter]
        let isMet =
          condition.values.isEmpty
          ? value != description.standard : condition.values.contains(value?.text ?? "")
        if isMet { return nil }
        switch (condition.values, description.standard) {
        case ([], .flag(let standard)): words.append("without \(parameter)=\(!standard)")
        case ([], _): words.append("without \(parameter)")
        case ([""], _): words.append("with \(parameter)")
        case (let values, _): words += values.map { "without \(parameter)=\($0)" }
        }
        break
      }
    }
    guard let first = words.first else { return nil }
    return StageProblem(
      parameter: name,
      "has no effect "
        + ([first] + words.dropFirst().map { $0.replacing("without ", with: "") })
        .joined(separator: " or "))
  }

  /// Whether it is addressed by `parameter` of `stage`; `isOwn` says that the parameter belongs to
  /// that stage.
  func answers(to parameter: String, of stage: String, isOwn: Bool) -> Bool {
    isOwn && name == parameter || sharedName == SharedName(stage: stage, parameter: parameter)
  }

  /// The unit of values; `nil` if there is none, or if the text of a value contains it.
  public var unit: String? {
    switch kind {
    case .duration, .durationOrAuto: "s"
    case .length, .lengthRange: "m"
    case .integer, .number: numberUnit
    case .flag, .choice, .text, .spelled, .file, .folder, .list: nil
    }
  }

  /// A value as text for people, in the form in which it can be set, with its unit.
  public func text(of value: ParameterValue) -> String {
    value.text + (numberUnit.map { " \($0)" } ?? "")
  }

  /// A value of a record in the form in which it can be set.
  func text(ofRecorded value: JSONValue) -> String {
    switch (kind, value) {
    case (.length, .number(let meters)): LengthText.text(meters: meters)
    case (.length, .integer(let meters)): LengthText.text(meters: Double(meters))
    case (.lengthRange, .string(let text)): LengthText.range(text).map(LengthText.text) ?? text
    default: value.plainText
    }
  }

  /// Describes valid values, for help and error messages.
  public var domain: String {
    switch kind {
    case .flag: "true or false"
    case .integer(let range): Self.text(range) + (numberUnit.map { " \($0)" } ?? "")
    case .number(let range):
      "a number, \(range.lowerBound) to \(range.upperBound)" + (numberUnit.map { " \($0)" } ?? "")
    case .choice(let names): names.joined(separator: "|")
    case .duration(let range): Self.text(ofDurations: range)
    case .durationOrAuto(let range): "auto or " + Self.text(ofDurations: range)
    case .length(let range):
      "a length with its unit, such as 10mm"
        + (range.upperBound < .greatestFiniteMagnitude
          ? ", \(LengthText.text(meters: range.lowerBound)) to "
            + LengthText.text(meters: range.upperBound) : "")
    case .lengthRange: "two lengths with their units, such as 0.3m..4m"
    case .text: "text"
    case .spelled(let domain, _): domain
    case .file: "a file"
    case .folder: "a folder"
    case .list: "a list of strings"
    }
  }

  private static func text(ofDurations range: ClosedRange<Int64>) -> String {
    "a duration with its unit, such as 50ms"
      + (range.upperBound == .max
        ? ""
        : (range.lowerBound < 0
          ? ", \(DurationSyntax.text(nanoseconds: range.lowerBound)) to " : ", up to ")
          + DurationSyntax.text(nanoseconds: range.upperBound))
  }

  private static func text(_ range: ClosedRange<Int>) -> String {
    range.upperBound == .max
      ? "a whole number from \(range.lowerBound)"
      : "a whole number, \(range.lowerBound) to \(range.upperBound)"
  }

  /// Parses a value from a pipeline file or after `--set NAME=`.
  public func value(from text: String) throws(ParameterError) -> ParameterValue {
    guard let value = parsed(text) else {
      throw ParameterError(name: name, given: text, expected: expectation(insteadOf: text))
    }
    return value
  }

  /// Describes the expected value in an error message.
  private func expectation(insteadOf text: String) -> String {
    switch kind {
    case .choice(let names):
      return "one of " + names.joined(separator: ", ") + NearestName.suggestion(text, among: names)
    case .length, .lengthRange:
      let meanings = LengthText.meanings(of: text)
      return domain
        + (meanings.isEmpty ? "" : "; write \(meanings.joined(separator: " or "))")
    case .flag, .integer, .number, .duration, .durationOrAuto, .text, .spelled, .file, .folder,
      .list:
      return domain
    }
  }

  private static func duration(_ text: String, _ range: ClosedRange<Int64>) -> ParameterValue? {
    DurationSyntax.signedNanoseconds(text).flatMap {
      range.contains($0) ? .duration(nanoseconds: $0) : nil
    }
  }

  private func parsed(_ text: String) -> ParameterValue? {
    switch kind {
    case .flag:
      switch text.lowercased() {
      case "true", "yes", "on": .flag(true)
      case "false", "no", "off": .flag(false)
      default: nil
      }
    case .integer(let range): Int(text).flatMap { range.contains($0) ? .integer($0) : nil }
    case .number(let range):
      Double(text).flatMap { $0.isFinite && range.contains($0) ? .number($0) : nil }
    case .choice(let names): names.contains(text) ? .text(text) : nil
    case .duration(let range): Self.duration(text, range)
    case .durationOrAuto(let range): text == Self.auto ? .text(text) : Self.duration(text, range)
    case .length(let range):
      LengthText.meters(text).flatMap { range.contains($0) ? .length(meters: $0) : nil }
    case .lengthRange: LengthText.range(text).map(ParameterValue.lengths)
    case .text: .text(text)
    case .spelled(_, let spelling): spelling(text).map(ParameterValue.text)
    case .file, .folder: text.isEmpty ? nil : .text(text)
    case .list: .list([text])
    }
  }
}

/// A value that is not valid for a parameter.
public struct ParameterError: Error, Hashable, CustomStringConvertible {
  public var name: String
  var given: String
  public var expected: String

  public var description: String { "\(name): '\(given)' is not \(expected)" }
}

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

/// Parses and formats lengths: `10mm`, `1.5cm`, `0.3m`. A number without unit is rejected, because
/// `300` may be millimeters or meters.
enum LengthText {
  /// Meters; `nil` unless the text is a finite number with a known unit.
  static func meters(_ text: some StringProtocol) -> Double? {
    let (number, unit) = parts(text)
    guard let value = Double(number), value.isFinite else { return nil }
    switch unit {
    case "m": return value
    case "cm": return value / 100
    case "mm": return value / 1000
    default: return nil
    }
  }

  /// `MIN..MAX`, both inclusive, each with its unit; a single unit at the end applies to both.
  static func range(_ text: String) -> ClosedRange<Double>? {
    guard let (low, high) = ends(text) else { return nil }
    let unit = high.drop { !$0.isLetter || $0 == "e" || $0 == "E" }
    let lowText = low.contains(where: { $0 == "m" }) ? String(low) : String(low + unit)
    guard let a = meters(lowText), let b = meters(high), a <= b else { return nil }
    return a...b
  }

  /// Possible meanings of a length or range without unit: for `300..4000`, `300mm..4000mm` and
  /// `300m..4000m`. Empty for texts with a unit and texts that are not a number.
  static func meanings(of text: String) -> [String] {
    let numbers: [Substring]
    if let (low, high) = ends(text) {
      numbers = [low, high]
    } else {
      numbers = [trimmed(text[...])]
    }
    let areAllBare = numbers.allSatisfy { number in
      let (digits, unit) = parts(number)
      return unit.isEmpty && (Double(digits)?.isFinite ?? false)
    }
    guard areAllBare else { return [] }
    return ["mm", "m"].map { unit in numbers.map { $0 + unit }.joined(separator: "..") }
  }

  /// Formats in a readable unit: millimeters below a meter. Parsing gives the same length.
  static func text(meters: Double) -> String {
    let millimeters = "\(number(meters * 1000))mm"
    return abs(meters) < 1 && meters != 0 && Self.meters(millimeters) == meters
      ? millimeters : "\(number(meters))m"
  }

  static func text(_ range: ClosedRange<Double>) -> String {
    "\(text(meters: range.lowerBound))..\(text(meters: range.upperBound))"
  }

  /// A number without `.0`.
  private static func number(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static func parts(_ text: some StringProtocol) -> (number: String, unit: String) {
    let digits = Set("0123456789.+-eE")
    let number = text.prefix { digits.contains($0) }
    return (String(number), String(text.dropFirst(number.count).drop { $0 == " " }))
  }

  private static func ends(_ text: String) -> (low: Substring, high: Substring)? {
    guard let dots = text.firstRange(of: "..") else { return nil }
    let high = trimmed(text[dots.upperBound...])
    // `0.3...4` is a mistake rather than a range up to 0.4.
    guard high.first != "." else { return nil }
    return (trimmed(text[..<dots.lowerBound]), high)
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return text
  }
}
