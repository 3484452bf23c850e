import Core
import SystemPackage

/// A parameter of a stage as the key of its value: its description, and the type in which it is read, which is
/// optional where there is no default.
public struct Parameter<Value: Sendable>: Sendable {
  public private(set) var description: ParameterDescription
  fileprivate let read: @Sendable (ParameterValue?) -> Value

  /// - Parameter standard: the default.
  public init(
    _ name: String, _ type: ParameterType<Value>, default standard: Value, _ sentence: String
  ) {
    description = ParameterDescription(
      name, type.kind, default: type.wrap(standard), sentence)
    read = { $0.flatMap(type.unwrap) ?? standard }
  }

  /// A parameter without default.
  public init<Wrapped>(
    _ name: String, _ type: ParameterType<Wrapped>, _ sentence: String
  ) where Value == Wrapped? {
    description = ParameterDescription(name, type.kind, sentence)
    read = { $0.flatMap(type.unwrap) }
  }

  public var name: String { description.name }

  private func changed(_ change: (inout ParameterDescription) -> Void) -> Self {
    var copy = self
    change(&copy.description)
    return copy
  }

  /// The parameter as a secret: records do not show its values.
  public func secret() -> Self { changed { $0.isSecret = true } }

  /// The parameter, which was added to a stage that has results: they stay as they are where it has its default.
  public func added() -> Self { changed { $0.isSilent = true } }

  /// The parameter with a unit for plain numbers. The unit is displayed but never written.
  public func measured(in unit: String) -> Self { changed { $0.numberUnit = unit } }

  /// The parameter, listed behind those that people use.
  public func forExperts() -> Self { changed { $0.isForExperts = true } }

  /// The parameter, which has an effect only where another one, of the same stage or of the stage that this step is
  /// part of, has one of `values`.
  public func needing<Choice: RawRepresentable<String>>(
    _ other: Parameter<Choice>, _ values: Choice...
  ) -> Self {
    changed {
      $0.conditions = [.init(parameter: other.name, values: values.map(\.rawValue))]
    }
  }

  /// The parameter, which has an effect only where another one is `auto`.
  public func needingAuto(of other: Parameter<Int64?>) -> Self {
    changed {
      $0.conditions = [.init(parameter: other.name, values: [ParameterDescription.auto])]
    }
  }

  /// The parameter, which has an effect only where another one is not set.
  public func needing<Other>(unset other: Parameter<Other>) -> Self {
    changed { $0.conditions = [.init(parameter: other.name, values: [""])] }
  }

  /// The parameter, which has an effect only where one of these has another value than its default.
  public func needing<each Other>(anyOf others: repeat Parameter<each Other>) -> Self {
    let conditions = ParameterDescription.list(repeat each others).map {
      ParameterDescription.Condition(parameter: $0.name)
    }
    return changed { $0.conditions = conditions }
  }

  /// The parameter, which also has an effect where this one has another value than its default; `nil`: nowhere else.
  public func orWith<Other>(_ other: Parameter<Other>?) -> Self {
    guard let other else { return self }
    return changed { $0.conditions.append(ParameterDescription.Condition(parameter: other.name)) }
  }

  /// The parameter, which has an effect only where a stage is connected to this port that has something to do.
  public func taking(from port: Port) -> Self { changed { $0.port = port.name } }

  /// The parameter, which `STAGE.PARAMETER` also sets, for all stages that have it.
  ///
  /// - Parameter parameter: its name there, if it is another one.
  public func shared(as stage: String, _ parameter: String? = nil) -> Self {
    let shared = ParameterDescription.SharedName(stage: stage, parameter: parameter ?? name)
    return changed { $0.sharedName = shared }
  }

  /// The parameter in a stage that does something else with it.
  public func saying(_ sentence: String) -> Self { changed { $0.sentence = sentence } }

  /// The parameter of stages that follow `stage`: `STAGE.PARAMETER` sets it, its name is both as one word, and it is not
  /// set here.
  public func following(_ stage: String, _ sentence: String) -> Self {
    changed {
      $0.name = stage + name.prefix(1).uppercased() + name.dropFirst()
      $0.sentence = "Set by \(stage).\(name)\(sentence)"
      $0.conditions = []
      $0.isFollowing = true
    }.shared(as: stage, name).forExperts()
  }
}

/// What values a parameter takes, and how they are kept.
public struct ParameterType<Value: Sendable>: Sendable {
  fileprivate let kind: ParameterDescription.Kind
  fileprivate let wrap: @Sendable (Value) -> ParameterValue
  fileprivate let unwrap: @Sendable (ParameterValue) -> Value?
}

extension ParameterType<Bool> {
  public static let flag = Self(kind: .flag, wrap: { .flag($0) }) {
    if case .flag(let value) = $0 { value } else { nil }
  }
}

extension ParameterType<Int> {
  public static func integer(_ range: ClosedRange<Int>) -> Self {
    Self(kind: .integer(range), wrap: { .integer($0) }) {
      if case .integer(let value) = $0 { value } else { nil }
    }
  }
}

extension ParameterType<Double> {
  public static func number(_ range: ClosedRange<Double>) -> Self {
    Self(kind: .number(range), wrap: { .number($0) }) {
      if case .number(let value) = $0 { value } else { nil }
    }
  }

  /// A length, or a range of lengths, in meters.
  public static func length(_ range: ClosedRange<Double>) -> Self {
    Self(kind: .length(range), wrap: { .length(meters: $0) }) {
      if case .length(let meters) = $0 { meters } else { nil }
    }
  }
}

extension ParameterType<ClosedRange<Double>> {
  /// A length, or a range of lengths, in meters.
  public static let lengthRange = Self(kind: .lengthRange, wrap: { .lengths($0) }) {
    if case .lengths(let range) = $0 { range } else { nil }
  }
}

extension ParameterType<Int64> {
  /// A time in nanoseconds.
  public static func duration(_ range: ClosedRange<Int64>) -> Self {
    Self(kind: .duration(range), wrap: { .duration(nanoseconds: $0) }) {
      if case .duration(let nanoseconds) = $0 { nanoseconds } else { nil }
    }
  }
}

extension ParameterType<Int64?> {
  /// In nanoseconds; `nil` is `auto`.
  public static func durationOrAuto(_ range: ClosedRange<Int64>) -> Self {
    Self(
      kind: .durationOrAuto(range),
      wrap: { $0.map { .duration(nanoseconds: $0) } ?? .text(ParameterDescription.auto) }
    ) {
      switch $0 {
      case .duration(let nanoseconds): .some(nanoseconds)
      case .text: .some(nil)
      default: nil
      }
    }
  }
}

extension ParameterType<String> {
  public static let text = Self(kind: .text, wrap: { .text($0) }) { $0.plain }
}

extension ParameterType<[String]> {
  public static let list = Self(kind: .list, wrap: { .list($0) }) {
    if case .list(let texts) = $0 { texts } else { nil }
  }
}

extension ParameterType<FilePath> {
  public static let file = path(.file)
  public static let folder = path(.folder)

  private static func path(_ kind: ParameterDescription.Kind) -> Self {
    Self(kind: kind, wrap: { .text($0.text) }) { $0.plain.map { FilePath(text: $0) } }
  }
}

/// A value that is written as a text by rules of its own.
public protocol SpelledValue: Sendable {
  /// What texts are valid, for help and error messages.
  static var domain: String { get }
  /// `nil` for a text that is against the rules.
  init?(_ text: String)
  /// The one spelling of all texts that mean the same.
  var text: String { get }
}

extension PictureSizing: SpelledValue {
  public static var domain: String {
    "the longest side in pixels (960), a percentage (50%) or a box (640x480)"
  }
}

extension ParameterType where Value: SpelledValue {
  public static var spelled: Self {
    Self(
      kind: .spelled(domain: Value.domain) { Value($0)?.text }, wrap: { .text($0.text) },
      unwrap: { $0.plain.flatMap { Value($0) } })
  }
}

extension ParameterType {
  /// - Parameter choices: all of the type unless told otherwise.
  public static func choice(
    _ choices: [Value] = Value.allCases
  ) -> Self where Value: CaseIterable & RawRepresentable<String>, Value.AllCases == [Value] {
    Self(kind: .choice(choices.map(\.rawValue)), wrap: { .text($0.rawValue) }) {
      $0.plain.flatMap { Value(rawValue: $0) }
    }
  }

  /// - Parameters:
  ///   - choices: all of the type unless told otherwise.
  ///   - word: the first choice, which is `nil`.
  public static func choice<Choice: CaseIterable & RawRepresentable<String>>(
    _ choices: [Choice] = Choice.allCases, or word: String
  ) -> Self where Value == Choice?, Choice.AllCases == [Choice] {
    Self(
      kind: .choice([word] + choices.map(\.rawValue)), wrap: { .text($0?.rawValue ?? word) }
    ) { $0.plain.map { Choice(rawValue: $0) } }
  }
}

extension ParameterValue {
  fileprivate var plain: String? { if case .text(let text) = self { text } else { nil } }
}

extension ParameterDescription {
  /// The descriptions of keys, in this order.
  public static func list<each Value>(
    _ parameters: repeat Parameter<each Value>
  ) -> [ParameterDescription] {
    var list: [ParameterDescription] = []
    repeat list.append((each parameters).description)
    return list
  }
}

/// The effective parameters of a stage: defaults, then the pipeline file, then the command line.
public struct ParameterValues: Hashable, Sendable {
  /// Values of the parameters that have one.
  public private(set) var values: [String: ParameterValue]
  /// Parameters that a pipeline file or a setting names, whatever their values.
  private(set) var named: Set<String> = []
  /// All parameters of the stage, set or not.
  private let names: [String]
  private let secrets: Set<String>
  private let silent: Set<String>
  private let standards: [String: ParameterValue]

  /// The defaults of `descriptions`.
  public init(defaultsOf descriptions: [ParameterDescription]) {
    values = [:]
    names = descriptions.map(\.name)
    secrets = Set(descriptions.filter(\.isSecret).map(\.name))
    silent = Set(descriptions.filter(\.isSilent).map(\.name))
    for description in descriptions { values[description.name] = description.standard }
    standards = values
  }

  /// What a stage reads; the default where the parameter has no value, or none of its kind.
  public subscript<Value>(parameter: Parameter<Value>) -> Value {
    parameter.read(values[parameter.name])
  }

  public subscript(name: String) -> ParameterValue? {
    get { values[name] }
    set {
      values[name] = newValue
      named.insert(name)
    }
  }

  /// Gives a parameter its default, as if it had never been named.
  mutating func forget(_ name: String) {
    values[name] = standards[name]
    named.remove(name)
  }

  /// All parameters of the stage in the form of records: `null` for those without value, digests
  /// for secrets. Those that were added later are absent at their default.
  public var json: [String: JSONValue] {
    let stated = names.filter { !silent.contains($0) || values[$0] != standards[$0] }
    return Dictionary(firstOf: stated.map { ($0, recorded($0)) })
  }

  private func recorded(_ name: String) -> JSONValue {
    guard let value = values[name] else { return .null }
    if secrets.contains(name), case .list(let texts) = value {
      return .array(texts.map { .string(SecretText.digested($0)) })
    }
    return value.json
  }
}

/// Parses and formats durations: `50ms`, `1.5s`, `30m`, `2h`, `250us`, `10ns`.
public enum DurationSyntax {
  private static let units: [(name: String, nanoseconds: Int64)] = [
    ("ns", 1), ("us", 1_000), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000),
    ("m", 60_000_000_000), ("min", 60_000_000_000), ("h", 3_600_000_000_000),
  ]

  /// The nearest nanosecond; minutes and hours may have nine decimals. `nil` without a unit, for
  /// negative values, for texts that are not a number, and beyond 292 years.
  public static func nanoseconds(_ text: String) -> Int64? {
    let number = text.prefix { $0.isNumber || $0 == "." }
    let unit = text.dropFirst(number.count).drop { $0 == " " }
    guard let scale = units.first(where: { $0.name == unit })?.nanoseconds else { return nil }
    // In billionths of the unit, so that 1.5s and 0.1ms stay exact.
    guard let billionths = Timestamp(decimal: number, scale: 9)?.nanoseconds else { return nil }
    let (whole, rest) = billionths.quotientAndRemainder(dividingBy: 1_000_000_000)
    let (product, overflow) = whole.multipliedReportingOverflow(by: scale)
    guard !overflow else { return nil }
    // Below 10⁹ · 10⁹, or whole seconds of a billionth each, so there is no overflow.
    let fraction =
      scale < 1_000_000_000
      ? (rest * scale + 500_000_000) / 1_000_000_000 : rest * (scale / 1_000_000_000)
    let (sum, carry) = product.addingReportingOverflow(fraction)
    return carry ? nil : sum
  }

  /// Parses a duration with an optional leading `-`, for offsets between clocks.
  static func signedNanoseconds(_ text: String) -> Int64? {
    guard text.hasPrefix("-") else { return nanoseconds(text) }
    return nanoseconds(String(text.dropFirst())).map { 0 - $0 }
  }

  /// Formats with the largest unit that gives a whole number.
  public static func text(nanoseconds: Int64) -> String {
    for unit in [units[7], units[5], units[4], units[3], units[1]]
    where nanoseconds != 0 && nanoseconds % unit.nanoseconds == 0 {
      return "\(nanoseconds / unit.nanoseconds)\(unit.name)"
    }
    return "\(nanoseconds)ns"
  }
}

/// Parses percentages: `2%`, `0.5 %`.
public enum PercentText {
  /// 0...100; `nil` without the sign, and for texts that are not a number in that range.
  public static func percent(_ text: String) -> Double? {
    guard text.last == "%" else { return nil }
    var number = text.dropLast()
    while number.last == " " { number.removeLast() }
    guard !number.isEmpty, number.utf8.allSatisfy({ $0.isDigit || $0 == 0x2E }),
      let value = Double(number), (0...100).contains(value)
    else { return nil }
    return value
  }
}

/// Parses amounts of memory: `2GB` (10⁹), `512MiB` (2²⁰). A number without a unit is none.
public enum SizeText {
  private static let units: [(name: String, bytes: Int64)] = [
    ("b", 1), ("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000), ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30),
    ("tib", 1 << 40), ("k", 1_000), ("m", 1_000_000), ("g", 1_000_000_000),
  ]

  /// Bytes; `nil` unless the text is a positive number with a known unit.
  public static func bytes(_ text: String) -> Int64? {
    let number = text.prefix { $0.isNumber || $0 == "." }
    let unit = text.dropFirst(number.count).drop { $0 == " " }.lowercased()
    guard let scale = units.first(where: { $0.name == unit })?.bytes, let value = Double(number)
    else { return nil }
    let bytes = value * Double(scale)
    return bytes >= 1 && bytes < 9e18 ? Int64(bytes) : nil
  }
}
