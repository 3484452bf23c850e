import Yams

/// Writes small YAML documents for other tools with libyaml: mappings in the given order, one key
/// per line, lists in flow style.
enum YAMLText {
  enum Value {
    case text(String)
    case integer(Int)
    case flag(Bool)
    /// The shortest text that reads back to the same double, always with a decimal point: some
    /// readers take a list's type from its first element.
    case number(Double)
    case numbers([Double])
    case integers([Int])
    /// Names and values, in order. Two arrays, because an array of tuples of the type itself does
    /// not compile.
    case members([String], [Value])

    static func mapping(_ pairs: [(String, Value)]) -> Value {
      .members(pairs.map(\.0), pairs.map(\.1))
    }
  }

  static func document(_ pairs: [(String, Value)]) throws -> String {
    // Lists stay on one line, whatever their length.
    try Yams.serialize(node: node(.mapping(pairs)), width: -1, allowUnicode: true)
  }

  private static func node(_ value: Value) -> Node {
    switch value {
    case .text(let text): Node(text, Tag(.str))
    case .integer(let number): Node(String(number))
    case .flag(let flag): Node(flag ? "true" : "false")
    case .number(let number): Node(decimal(number))
    case .numbers(let numbers): list(numbers.map(decimal))
    case .integers(let numbers): list(numbers.map(String.init))
    case .members(let names, let values):
      Node(zip(names, values).map { (Node($0), node($1)) }, .implicit, .block)
    }
  }

  private static func list(_ texts: [String]) -> Node {
    Node(texts.map { Node($0) }, .implicit, .flow)
  }

  /// Never `-0.0`; `1e-05` as `1.0e-05`, which YAML 1.1 readers also parse as a number.
  private static func decimal(_ number: Double) -> String {
    if number == 0 { return "0.0" }
    let text = number.description
    guard let exponent = text.firstIndex(of: "e"), !text.contains(".") else { return text }
    return text[..<exponent] + ".0" + text[exponent...]
  }
}
