/// A parameter of a stage: the one source of checks, defaults and help.
public struct ParameterDescription: Sendable {
  public enum Kind: Sendable {
    case flag
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case choice([String])
    /// Nanoseconds.
    case duration(ClosedRange<Int64>)
    /// Meters.
    case length(ClosedRange<Double>)
    /// Meters.
    case lengthRange
    case text
    /// A file whose content counts into the fingerprint.
    case file
    /// A folder from which the stage picks a file by itself.
    case folder
    /// A YAML list of texts.
    case list
  }

  public var name: String
  public var kind: Kind
  /// `nil`: not set unless the user sets it.
  public var standard: ParameterValue?
  public var sentence: String
  /// `NAME=VALUE`, whose values records do not show.
  public var isSecret = false
  /// What a plain number counts or measures, such as `px`; `nil`: nothing, or the kind tells.
  private var numberUnit: String?
  /// Whether records and fingerprints leave it out while it has its default: what was made before there was
  /// such a parameter stays up to date.
  public var isOmittedAtDefault = false
  /// Under which name of another stage it is set for all stages that have it, such as `imu.margin`.
  public var sharedName: SharedName?

  /// A parameter of several stages that is set once, under the name of another.
  public struct SharedName: Hashable, Sendable {
    public var stage: String
    public var parameter: String

    public init(stage: String, parameter: String) {
      self.stage = stage
      self.parameter = parameter
    }
  }

  public init(
    _ name: String, _ kind: Kind, default standard: ParameterValue? = nil, _ sentence: String
  ) {
    self.name = name
    self.kind = kind
    self.standard = standard
    self.sentence = sentence
  }

  /// The same, with values that records do not show.
  public func secret() -> ParameterDescription {
    var copy = self
    copy.isSecret = true
    return copy
  }

  /// The same, for plain numbers that are measured in something. The unit is shown and never written.
  public func measured(in unit: String) -> ParameterDescription {
    var copy = self
    copy.numberUnit = unit
    return copy
  }

  /// The same, left out of records and fingerprints while it has its default.
  public func omittedAtDefault() -> ParameterDescription {
    var copy = self
    copy.isOmittedAtDefault = true
    return copy
  }

  /// The same, which `STAGE.PARAMETER` sets as well, for all stages that have it.
  public func shared(as stage: String, _ parameter: String) -> ParameterDescription {
    var copy = self
    copy.sharedName = SharedName(stage: stage, parameter: parameter)
    return copy
  }

  /// Whether it is meant by `parameter` of a stage: `isOwn` of the stage that has it.
  func answers(to parameter: String, of stage: String, isOwn: Bool) -> Bool {
    isOwn && name == parameter || sharedName == SharedName(stage: stage, parameter: parameter)
  }

  /// What values are in: `nil` for those that need none, or whose text names it.
  public var unit: String? {
    switch kind {
    case .duration: "s"
    case .length, .lengthRange: "m"
    case .integer, .number: numberUnit
    case .flag, .choice, .text, .file, .folder, .list: nil
    }
  }

  /// A value of this parameter for people: as it could be set, with its unit.
  public func text(of value: ParameterValue) -> String {
    value.text + (numberUnit.map { " \($0)" } ?? "")
  }

  /// What a value looks like, for help and error texts.
  public var domain: String {
    switch kind {
    case .flag: "true or false"
    case .integer(let range): Self.text(range) + (numberUnit.map { " \($0)" } ?? "")
    case .number(let range):
      "a number, \(range.lowerBound) to \(range.upperBound)" + (numberUnit.map { " \($0)" } ?? "")
    case .choice(let names): names.joined(separator: "|")
    case .duration(let range):
      "a duration with its unit, such as 50ms"
        + (range.upperBound == .max
          ? ""
          : (range.lowerBound < 0
            ? ", \(DurationText.text(nanoseconds: range.lowerBound)) to " : ", up to ")
            + DurationText.text(nanoseconds: range.upperBound))
    case .length(let range):
      "a length with its unit, such as 10mm"
        + (range.upperBound < .greatestFiniteMagnitude
          ? ", \(LengthText.text(meters: range.lowerBound)) to "
            + LengthText.text(meters: range.upperBound) : "")
    case .lengthRange: "two lengths with their units, such as 0.3m..4m"
    case .text: "text"
    case .file: "a file"
    case .folder: "a folder"
    case .list: "a list of strings"
    }
  }

  private static func text(_ range: ClosedRange<Int>) -> String {
    range.upperBound == .max
      ? "a whole number from \(range.lowerBound)"
      : "a whole number, \(range.lowerBound) to \(range.upperBound)"
  }

  /// Reads a value as it stands in a pipeline file or after `--set NAME=`.
  public func value(from text: String) throws(ParameterError) -> ParameterValue {
    guard let value = parsed(text) else {
      throw ParameterError(name: name, given: text, expected: expectation(insteadOf: text))
    }
    return value
  }

  /// What a value looks like, as an error tells it.
  private func expectation(insteadOf text: String) -> String {
    switch kind {
    case .choice(let names):
      return "one of " + names.joined(separator: ", ") + NearestName.suggestion(text, among: names)
    case .length, .lengthRange:
      let meanings = LengthText.meanings(of: text)
      return domain
        + (meanings.isEmpty ? "" : "; write \(meanings.joined(separator: " or "))")
    case .flag, .integer, .number, .duration, .text, .file, .folder, .list: return domain
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
    case .duration(let range):
      DurationText.signedNanoseconds(text).flatMap {
        range.contains($0) ? .duration(nanoseconds: $0) : nil
      }
    case .length(let range):
      LengthText.meters(text).flatMap { range.contains($0) ? .length(meters: $0) : nil }
    case .lengthRange: LengthText.range(text).map(ParameterValue.lengths)
    case .text: .text(text)
    case .file, .folder: text.isEmpty ? nil : .text(text)
    case .list: .list([text])
    }
  }
}

/// A value that a parameter does not take.
public struct ParameterError: Error, Hashable, Sendable, CustomStringConvertible {
  public var name: String
  public var given: String
  public var expected: String

  public var description: String { "\(name): '\(given)' is not \(expected)" }
}
