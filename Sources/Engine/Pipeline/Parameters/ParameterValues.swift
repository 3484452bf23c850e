/// The effective parameters of a stage: defaults, then the pipeline file, then the command line.
public struct ParameterValues: Hashable, Sendable {
  /// Values of the parameters that have one.
  public private(set) var values: [String: ParameterValue]
  /// Parameters that a pipeline file or a setting names, whatever their values.
  private(set) var named: Set<String> = []
  /// All parameters of the stage, set or not.
  private let names: [String]
  private let secrets: Set<String>
  private let standards: [String: ParameterValue]

  /// The defaults of `descriptions`.
  public init(defaultsOf descriptions: [ParameterDescription]) {
    values = [:]
    names = descriptions.map(\.name)
    secrets = Set(descriptions.filter(\.isSecret).map(\.name))
    for description in descriptions { values[description.name] = description.standard }
    standards = values
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
  /// for secrets.
  public var json: [String: JSONValue] {
    Dictionary(names.map { ($0, recorded($0)) }) { first, _ in first }
  }

  private func recorded(_ name: String) -> JSONValue {
    guard let value = values[name] else { return .null }
    if secrets.contains(name), case .list(let texts) = value {
      return .array(texts.map { .string(SecretText.digested($0)) })
    }
    return value.json
  }

  public func flag(_ name: String) -> Bool {
    if case .flag(let value) = values[name] { value } else { false }
  }

  public func integer(_ name: String) -> Int? {
    if case .integer(let value) = values[name] { value } else { nil }
  }

  public func number(_ name: String) -> Double? {
    if case .number(let value) = values[name] { value } else { nil }
  }

  public func text(_ name: String) -> String? {
    if case .text(let value) = values[name] { value } else { nil }
  }

  public func durationNanoseconds(_ name: String) -> Int64? {
    if case .duration(let value) = values[name] { value } else { nil }
  }

  public func meters(_ name: String) -> Double? {
    if case .length(let value) = values[name] { value } else { nil }
  }

  public func lengths(_ name: String) -> ClosedRange<Double>? {
    if case .lengths(let value) = values[name] { value } else { nil }
  }

  public func list(_ name: String) -> [String] {
    if case .list(let value) = values[name] { value } else { [] }
  }
}
