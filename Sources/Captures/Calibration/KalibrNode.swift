import Core
import Yams

/// One camera of a Kalibr chain, with its path for messages.
struct KalibrNode {
  let path: String
  private let node: Node

  init(_ node: Node, path: String) {
    self.node = node
    self.path = path
  }

  func problem(_ key: String, _ text: String) -> CalibrationProblem {
    let value = child(key)
    return CalibrationProblem(
      value == nil ? "is missing: it \(text)" : text, key: "\(path).\(key)",
      value: value.map(Self.text),
      line: (value ?? node).mark?.line)
  }

  /// The text of a key; throws unless it is one of `values`.
  @discardableResult
  func expect(_ key: String, oneOf values: [String]) throws(CalibrationProblem) -> String {
    guard let text = child(key)?.scalar?.string, values.contains(text) else {
      throw problem(key, "must be \(values.joined(separator: " or ")): nothing else is supported")
    }
    return text
  }

  func has(_ key: String) -> Bool { child(key) != nil }

  /// The list of numbers of a key.
  func numbers(_ key: String, counts: ClosedRange<Int>) throws(CalibrationProblem) -> [Double] {
    let items = child(key)?.sequence.map(Array.init) ?? []
    let numbers = items.map(Self.number)
    guard counts.contains(items.count), !numbers.contains(nil) else {
      throw problem(key, "must be a list of \(counts.lowerBound) finite numbers")
    }
    return numbers.compactMap { $0 }
  }

  /// A matrix of four rows that is a rotation and a translation.
  func transform(_ key: String) throws(CalibrationProblem) -> RigidTransform {
    let rows = child(key)?.sequence.map(Array.init) ?? []
    let numbers = rows.flatMap { $0.sequence.map { $0.map(Self.number) } ?? [nil] }
    guard rows.count == 4, numbers.count == 16, !numbers.contains(nil),
      let transform = RigidTransform(rowMajor: numbers.compactMap { $0 })
    else { throw problem(key, "must be four rows of four numbers") }
    guard RigidTransform.hasUsualLastRow(numbers.compactMap { $0 }) else {
      throw problem(key, "must have the last row 0 0 0 1: write the matrix row by row")
    }
    if let fault = DepthCalibration(registered: false, colorFromDepth: transform).firstFault {
      throw problem(key, "must be \(fault.rule)")
    }
    return transform
  }

  private func child(_ key: String) -> Node? { node.mapping?[Node(key)] }

  private static func number(_ node: Node) -> Double? {
    (node.float ?? node.int.map(Double.init)).flatMap { $0.isFinite ? $0 : nil }
  }

  /// Text for messages: a scalar, or a list of scalars. Deeper values are left out, because aliases
  /// can make them infinite.
  private static func text(_ node: Node) -> String {
    switch node {
    case .scalar(let scalar): scalar.string
    case .sequence(let items):
      "[\(items.prefix(16).map { $0.scalar?.string ?? "…" }.joined(separator: ", "))]"
    default: "…"
    }
  }
}
