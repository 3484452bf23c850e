import Core
import SystemPackage
import Yams

/// A map of `capture.yaml` with the keys that it may have. Its errors name file, line, key, what is
/// allowed, and the nearest word.
struct OpenFolderMap {
  let file: FilePath
  /// The keys from the top to this map: `depth.raw`.
  let place: String
  private let node: Node
  private var nodes: [String: Node] = [:]

  /// The whole file. Cost: bounded by `InputLimits.bytesOfSettings` and `YAMLNesting`.
  init(_ file: FilePath, keys: [String]) throws(CaptureError) {
    let text: String
    do throws(FileError) {
      let bytes = try InputFile(file).whole(limit: InputLimits.bytesOfSettings)
      text = String(decoding: TextBytes.utf8(bytes), as: UTF8.self)
    } catch {
      throw CaptureError(error, of: file)
    }
    if let problem = YAMLNesting.problem(in: text) {
      throw CaptureError(file: file, problem: problem)
    }
    let root: Node?
    do {
      root = try Yams.compose(yaml: text)
    } catch {
      throw CaptureError(file: file, problem: "it is no YAML: \(error)", correction: Self.advice)
    }
    try self.init(root ?? Node(""), "", in: file, keys: keys)
  }

  init(_ node: Node, _ place: String, in file: FilePath, keys: [String]) throws(CaptureError) {
    (self.file, self.place, self.node) = (file, place, node)
    guard let mapping = node.mapping else {
      throw fault(node, nil, "a map is expected, with the keys \(keys.joined(separator: ", "))")
    }
    for (key, value) in mapping {
      let name = key.string ?? "?"
      guard keys.contains(name) else {
        let suggestion = NearestName.suggestion(name, among: keys)
        throw fault(
          key, name,
          "no such key\(suggestion); here are possible: \(keys.joined(separator: ", "))")
      }
      nodes[name] = value
    }
  }

  private static let advice = "docs/your-own-app.md lists the keys of capture.yaml"

  /// This map with the keys of another one that it does not have itself.
  func over(_ other: OpenFolderMap) -> OpenFolderMap {
    var result = self
    result.nodes.merge(other.nodes) { own, _ in own }
    return result
  }

  private func fault(_ node: Node, _ key: String?, _ what: String) -> CaptureError {
    let name = [place, key ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
    let line = node.mark.map { "line \($0.line)" }
    let start = [line, name.isEmpty ? nil : name].compactMap(\.self).joined(separator: ", ")
    return CaptureError(
      file: file, problem: start.isEmpty ? what : "\(start): \(what)", correction: Self.advice)
  }

  /// An error at a key, or at the map itself.
  func fault(_ key: String?, _ what: String) -> CaptureError {
    fault(key.flatMap { nodes[$0] } ?? node, key, what)
  }

  func has(_ key: String) -> Bool { nodes[key] != nil }

  func text(_ key: String) throws(CaptureError) -> String? {
    guard let node = nodes[key] else { return nil }
    guard let text = node.scalar?.string, !text.isEmpty, !text.utf8.contains(0) else {
      throw fault(key, "one value is expected")
    }
    return text
  }

  /// A path inside the capture's folder.
  func path(_ key: String) throws(CaptureError) -> String? {
    guard let text = try text(key) else { return nil }
    guard let path = OpenFolderContent.path(text) else {
      throw fault(key, "`\(text)` leads out of the capture's folder; paths are relative to it")
    }
    return path
  }

  func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String
  ) throws(CaptureError) -> Choice? where Choice.RawValue == String {
    guard let text = try text(key) else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    let known = Choice.allCases.map(\.rawValue)
    throw fault(
      key,
      "`\(text)` is none of \(known.joined(separator: ", "))"
        + NearestName.suggestion(text, among: known))
  }

  /// A choice that has no usual value.
  func stated<Choice: RawRepresentable & CaseIterable>(
    _ key: String, _ why: String
  ) throws(CaptureError) -> Choice where Choice.RawValue == String {
    if let choice: Choice = try choice(key) { return choice }
    let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    throw fault(nil, "`\(key)` is missing, \(why): one of \(known)")
  }

  func number(_ key: String, _ range: ClosedRange<Double>) throws(CaptureError) -> Double? {
    guard let text = try text(key) else { return nil }
    if let number = Double(text), range.contains(number) { return number }
    throw fault(
      key, "`\(text)` is no number from \(range.lowerBound) to \(range.upperBound)")
  }

  func integer(_ key: String, _ range: ClosedRange<Int>) throws(CaptureError) -> Int? {
    guard let text = try text(key) else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    throw fault(
      key, "`\(text)` is no whole number from \(range.lowerBound) to \(range.upperBound)")
  }

  private func list(_ key: String) throws(CaptureError) -> [String]? {
    guard let node = nodes[key] else { return nil }
    let nodes = node.sequence.map(Array.init) ?? [node]
    let texts = nodes.flatMap { $0.sequence.map(Array.init) ?? [$0] }.compactMap(\.scalar?.string)
    guard !texts.isEmpty, texts.allSatisfy({ !$0.isEmpty }) else {
      throw fault(key, "a value or a list of values is expected")
    }
    return texts
  }

  func texts(_ key: String) throws(CaptureError) -> [String]? { try list(key) }

  /// Numbers, or the columns that hold them. A matrix may be a list of rows.
  ///
  /// - Parameter counts: how many numbers are possible; one column may hold all of them.
  func field(_ key: String, _ counts: Set<Int>) throws(CaptureError) -> OpenFolderField? {
    guard let texts = try list(key) else { return nil }
    let numbers = texts.compactMap { Double($0) }.filter(\.isFinite)
    let needed = counts.sorted().map { "\($0)" }.joined(separator: " or ")
    if numbers.count == texts.count {
      guard counts.contains(numbers.count) else {
        throw fault(key, "\(numbers.count) numbers, not \(needed)")
      }
      return .constant(numbers)
    }
    guard texts.count == 1 || counts.contains(texts.count) else {
      throw fault(key, "\(texts.count) columns, not \(needed), nor one that holds all")
    }
    return .columns(texts)
  }

  func numbers(_ key: String, _ counts: Set<Int>) throws(CaptureError) -> [Double]? {
    switch try field(key, counts) {
    case .constant(let numbers): return numbers
    case .columns: throw fault(key, "numbers are expected")
    case nil: return nil
    }
  }

  /// The columns that hold `count` numbers, or the one that holds all.
  func columns(_ key: String, _ count: Int) throws(CaptureError) -> [String]? {
    switch try field(key, [count]) {
    case .columns(let names): return names
    case .constant: throw fault(key, "columns of the table are expected, no numbers")
    case nil: return nil
    }
  }

  func map(_ key: String, keys: [String]) throws(CaptureError) -> OpenFolderMap? {
    guard let node = nodes[key] else { return nil }
    return try OpenFolderMap(node, below(key), in: file, keys: keys)
  }

  /// A map, or a list of maps.
  func maps(_ key: String, keys: [String]) throws(CaptureError) -> [OpenFolderMap] {
    var maps: [OpenFolderMap] = []
    for node in nodes[key]?.sequence.map(Array.init) ?? nodes[key].map({ [$0] }) ?? [] {
      maps.append(try OpenFolderMap(node, below(key), in: file, keys: keys))
    }
    return maps
  }

  /// Whether the value is a map rather than a text.
  func isMap(_ key: String) -> Bool { nodes[key]?.mapping != nil }

  private func below(_ key: String) -> String { place.isEmpty ? key : "\(place).\(key)" }
}

/// Numbers that are stated, or the columns of a table (or the key paths of JSON) that hold them.
enum OpenFolderField: Hashable, Sendable {
  case constant([Double])
  case columns([String])

  var columns: [String] {
    if case .columns(let names) = self { names } else { [] }
  }

  /// `nil` unless it is stated, or the row has all numbers.
  func numbers(in row: OpenFolderTable?) -> [Double]? {
    switch self {
    case .constant(let numbers): numbers
    case .columns(let names): row?.numbers(names)
    }
  }
}
