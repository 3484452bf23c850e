import Core
import SystemPackage
import Yams

/// A key of `capture.yaml`: what its value may be, when it is needed, and what holds without it.
struct OpenFolderKey: Sendable {
  enum Kind: Sendable {
    case text, texts
    /// A path inside the capture's folder.
    case path
    case choice([String])
    case number(ClosedRange<Double>)
    case integer(ClosedRange<Int>)
    /// A list of as many numbers as one of the counts says. A matrix may be a list of rows.
    case numbers(Set<Int>)
    /// The names of so many columns, or of the one that holds all.
    case columns(Int)
    /// Numbers or columns.
    case field(Set<Int>)
    case map(OpenFolderBlock)
    /// A map or a list of them.
    case maps(OpenFolderBlock)
    /// A path, or a map.
    case file(OpenFolderBlock)
    /// A map of words of the file's own.
    case words
  }

  let name: String
  let kind: Kind
  var usual: String?
  /// Why the key must not be missing where one of the keys `with` is stated; always, if there are none.
  var need: (why: String, with: [String])?

  init(
    _ name: String, _ kind: Kind, usual: String? = nil, need: (why: String, with: [String])? = nil
  ) {
    (self.name, self.kind, self.usual, self.need) = (name, kind, usual, need)
  }
}

/// The keys of a map of `capture.yaml`, in one table that also checks the document.
struct OpenFolderBlock: Sendable {
  typealias Key = OpenFolderKey
  var keys: [Key]
  /// Groups of keys, one of which must be stated.
  var oneOf: [[String]] = []

  static let table = OpenFolderBlock(keys: [
    Key("file", .path, need: ("the table's path", [])), Key("rows", .text), Key("columns", .texts),
    Key("where", .words),
  ])
  static let time = OpenFolderBlock(
    keys: [
      Key("column", .text), Key("name", .choice(["true"])), Key("rate", .number(1e-3...1e5)),
      Key(
        "unit", .choice(["s", "ms", "us", "ns"]), usual: "s",
        need: ("of the times", ["column", "name"])),
      Key("clock", .text), Key("offset", .number(-9e9...9e9)),
    ])
  private static let items = [
    Key("table", .file(table), need: ("whose column is named", ["file", "number"])),
    Key("file", .text), Key("number", .text), Key("time", .map(time)),
    Key("pair", .choice(["time", "number", "row"])),
  ]
  private static let rows = [
    Key("table", .file(table), need: ("that of the rows", [])),
    Key("time", .map(time), need: ("that of a row", [])),
  ]
  static let color = OpenFolderBlock(
    keys: [Key("images", .path), Key("video", .path)] + items,
    oneOf: [["images"], ["video"], ["table", "file"]])
  static let raw = OpenFolderBlock(keys: [
    Key(
      "type", .choice(OpenFolderRaw.PixelType.allCases.map(\.rawValue)),
      need: ("that of a pixel", [])),
    Key("width", .integer(1...InputLimits.sideOfPicture.most), need: ("in pixels", [])),
    Key("height", .integer(1...InputLimits.sideOfPicture.most), need: ("in pixels", [])),
    Key("endian", .choice(["little", "big"]), usual: "little"),
    Key(
      "compression", .choice(OpenFolderRaw.Compression.allCases.map(\.rawValue)), usual: "none"),
  ])
  static let confidence = OpenFolderBlock(
    keys: [Key("images", .path), Key("raw", .map(raw))] + items,
    oneOf: [["images"], ["table", "file"]])
  static let depth = OpenFolderBlock(
    keys: confidence.keys + [
      Key("scale", .number(1e-9...1e6)), Key("invalid", .numbers(Set(1...16))),
      Key("intrinsics", .map(camera), need: ("those of the depth camera", ["colorFromDepth"])),
      Key(
        "colorFromDepth", .map(transform),
        need: ("where the depth camera is", ["intrinsics"])),
    ],
    oneOf: confidence.oneOf)
  static let transform = OpenFolderBlock(
    keys: [
      Key("matrix", .field([12, 16])),
      Key(
        "order", .choice(["row", "column"]), need: ("in which the matrix is written", ["matrix"])),
      Key("position", .field([3])), Key("quaternion", .field([4])),
      Key(
        "quaternionOrder", .choice(["xyzw", "wxyz"]), need: ("of the four numbers", ["quaternion"])),
      Key("unit", .choice(["m", "cm", "mm"]), usual: "m"),
    ],
    oneOf: [["matrix"], ["position", "quaternion"]])
  static let poses = OpenFolderBlock(
    keys: transform.keys + [
      Key(
        "direction", .choice(["worldFromCamera", "cameraFromWorld"]),
        need: ("without which poses may be inverse", [])),
      Key("axes", .choice(["arkit", "opengl", "opencv"]), need: ("those of the camera", [])),
      Key("world", .choice(["y-up", "z-up"]), usual: "y-up"),
    ] + items,
    oneOf: transform.oneOf)
  static let camera = OpenFolderBlock(
    keys: ["fx", "fy", "cx", "cy"].map { Key($0, .field([1])) } + [
      Key("matrix", .field([9])),
      Key(
        "order", .choice(["row", "column"]), need: ("in which the matrix is written", ["matrix"])),
      Key("size", .field([2])), Key("distortion", .field([4, 5, 8])),
      Key("pixelCenter", .number(0...1), usual: "0"),
    ],
    oneOf: [["fx", "fy", "cx", "cy"], ["matrix"]])
  static let intrinsics = OpenFolderBlock(keys: camera.keys + items, oneOf: camera.oneOf)
  static let motion = OpenFolderBlock(
    keys: rows + IMUStream.knownSensors.map { Key($0, .columns(3)) } + [
      Key(
        "acceleration", .choice(AccelerationUnit.allCases.map(\.rawValue)),
        need: ("the unit", IMUStream.knownSensors.filter { IMUStream.isAcceleration($0) })),
      Key(
        "rotation", .choice(RotationUnit.allCases.map(\.rawValue)),
        need: ("the unit", IMUStream.knownSensors.filter { IMUStream.isRotation($0) })),
      Key("convention", .choice(IMUConvention.allCases.map(\.rawValue)), usual: "coremotion"),
    ],
    oneOf: IMUStream.knownSensors.map { [$0] })
  static let geo = OpenFolderBlock(
    keys: rows + [
      Key("latitude", .columns(1), need: ("in degrees", [])),
      Key("longitude", .columns(1), need: ("in degrees", [])), Key("altitude", .columns(1)),
      Key("accuracy", .columns(1)),
    ])
  static let top = OpenFolderBlock(
    keys: [
      Key(OpenFolderReader.mark, .choice(["1"])),
      Key("layout", .choice(["transforms"]), need: ("which `transforms` is of", ["transforms"])),
      Key("transforms", .path, usual: "transforms.json"),
      Key("clock", .choice(["uptime", "unix", "recording-start"]), usual: "uptime"),
      Key("device", .text), Key("color", .map(color)), Key("depth", .map(depth)),
      Key("confidence", .map(confidence)), Key("poses", .map(poses)),
      Key("intrinsics", .map(intrinsics)), Key("motion", .maps(motion)), Key("geo", .map(geo)),
    ],
    oneOf: [["color"], ["depth"], ["poses"], ["motion"]])

  /// What `layout: transforms` stands for: the files of nerfstudio, Polycam and other NeRF tools. Keys of
  /// the document go before.
  fileprivate static let transforms = """
    color: {file: file_path}
    depth: {file: depth_file_path}
    poses:
      matrix: transform_matrix
      order: row
      direction: worldFromCamera
      axes: opengl
      world: z-up
    intrinsics:
      fx: fl_x
      fy: fl_y
      cx: cx
      cy: cy
      size: [w, h]
      distortion: [k1, k2, p1, p2]
      pixelCenter: 0.5
    """
}

/// A checked map of `capture.yaml`. Its errors name file, line, key, what is allowed, and the nearest word.
struct OpenFolderMap {
  let file: FilePath
  /// The keys from the top to this map: `depth.raw`.
  private let place: String
  private let node: Node
  private var values: [String: Value] = [:]

  private struct Value {
    var node: Node
    var texts: [String] = []
    var maps: [OpenFolderMap] = []
    var words: [String: String] = [:]
  }

  private static let advice = "docs/your-own-app.md lists the keys of capture.yaml"

  /// The whole file. Cost: bounded by `InputLimits.bytesOfSettings` and `InputLimits.problem(inYAML:)`.
  init(_ file: FilePath) throws(CaptureError) {
    let bytes = try CaptureError.naming(
      file, try InputFile(file).whole(limit: InputLimits.bytesOfSettings))
    let text = String(decoding: TextBytes.utf8(bytes), as: UTF8.self)
    if let problem = InputLimits.problem(inYAML: text) {
      throw CaptureError(file: file, problem: problem)
    }
    var root: Node?
    do {
      root = try Yams.compose(yaml: text)
      if var top = root?.mapping, top["layout"]?.string == "transforms" {
        let table = [
          (Node("file"), top["transforms"] ?? Node("transforms.json")),
          (Node("rows"), Node("frames")),
        ]
        for (name, usual) in try Yams.compose(yaml: OpenFolderBlock.transforms)?.mapping ?? [:] {
          guard var own = top[name] == nil ? [:] : top[name]?.mapping else { continue }
          for (key, value) in usual.mapping ?? [:] where own[key] == nil {
            own[key] = value
          }
          if own["table"] == nil { own["table"] = .mapping(Node.Mapping(table)) }
          top[name] = .mapping(own)
        }
        root = .mapping(top)
      }
    } catch {
      throw CaptureError(
        file: file, problem: "it is no YAML: \(Self.words(error))", correction: Self.advice)
    }
    try self.init(root ?? Node(""), "", file, .top)
  }

  /// What the parser says, on one line and with the line of the file first.
  private static func words(_ error: any Error) -> String {
    switch error as? YamlError {
    case .scanner(let context, let problem, let mark, _)?,
      .parser(let context, let problem, let mark, _)?,
      .composer(let context, let problem, let mark, _)?:
      "line \(mark.line), " + [context?.text, problem].compactMap(\.self).joined(separator: ", ")
    case .duplicatedKeysInMapping(let keys, let context)?:
      "line \(context.mark.line), more than once in one map: "
        + keys.map { "`\($0)`" }.joined(separator: ", ")
    default: "\(error)".onOneLine
    }
  }

  private init(
    _ node: Node, _ place: String, _ file: FilePath, _ block: OpenFolderBlock
  ) throws(CaptureError) {
    (self.file, self.place, self.node) = (file, place, node)
    let names = block.keys.map(\.name)
    guard let mapping = node.mapping else {
      throw fault(node, nil, "a map is expected, with the keys \(names.joined(separator: ", "))")
    }
    for (key, value) in mapping {
      let name = key.string ?? "?"
      guard let known = block.keys.first(where: { $0.name == name }) else {
        throw fault(
          key, name,
          "no such key\(NearestName.suggestion(name, among: names)); here are possible: "
            + names.joined(separator: ", "))
      }
      values[name] = try checked(value, known)
    }
    for key in block.keys where !has(key.name) {
      if let (why, with) = key.need, with.isEmpty || with.contains(where: has) {
        var choices = ""
        if case .choice(let known) = key.kind {
          choices = ": one of \(known.joined(separator: ", "))"
        }
        throw fault(nil, "`\(key.name)` is missing, \(why)\(choices)")
      }
    }
    guard block.oneOf.isEmpty || block.oneOf.contains(where: { $0.allSatisfy(has) }) else {
      let groups = block.oneOf.map { $0.map { "`\($0)`" }.joined(separator: " with ") }
      throw fault(nil, "one of \(groups.joined(separator: ", ")) is needed")
    }
    for key in block.keys where !has(key.name) {
      if let usual = key.usual { values[key.name] = Value(node: node, texts: [usual]) }
    }
  }

  private func checked(_ node: Node, _ key: OpenFolderKey) throws(CaptureError) -> Value {
    func fault(_ what: String) -> CaptureError { self.fault(node, key.name, what) }
    func map(_ node: Node, _ block: OpenFolderBlock) throws(CaptureError) -> OpenFolderMap {
      try OpenFolderMap(node, place.isEmpty ? key.name : "\(place).\(key.name)", file, block)
    }
    switch key.kind {
    case .map(let block): return Value(node: node, maps: [try map(node, block)])
    case .maps(let block):
      var maps: [OpenFolderMap] = []
      for node in node.sequence.map(Array.init) ?? [node] { maps.append(try map(node, block)) }
      guard !maps.isEmpty else { throw fault("a map or a list of maps is expected") }
      return Value(node: node, maps: maps)
    case .file(let block) where node.mapping != nil:
      return Value(node: node, maps: [try map(node, block)])
    case .words:
      var words: [String: String] = [:]
      for (key, value) in node.mapping ?? [:] {
        if let name = key.scalar?.string, let word = value.scalar?.string { words[name] = word }
      }
      guard let count = node.mapping?.count, count > 0, words.count == count else {
        throw fault("a map of columns and their values is expected")
      }
      return Value(node: node, words: words)
    default: break
    }
    let nodes = (node.sequence.map(Array.init) ?? [node]).flatMap {
      $0.sequence.map(Array.init) ?? [$0]
    }
    let texts = nodes.compactMap(\.scalar?.string).filter { !$0.isEmpty && !$0.utf8.contains(0) }
    guard texts.count == nodes.count, let first = texts.first else {
      throw fault("a value or a list of values is expected")
    }
    var value = Value(node: node, texts: texts)
    let hasNumbers = texts.allSatisfy { Double($0)?.isFinite ?? false }
    func count(_ counts: Set<Int>) throws(CaptureError) {
      guard !counts.contains(texts.count), hasNumbers || texts.count > 1 else { return }
      let needed = counts.sorted().map(String.init).joined(separator: " or ")
      throw fault(
        hasNumbers
          ? "\(texts.count) numbers, not \(needed)"
          : "\(texts.count) columns, not \(needed), nor one that holds all")
    }
    switch key.kind {
    case .numbers(let counts):
      guard hasNumbers else { throw fault("numbers are expected") }
      try count(counts)
      return value
    case .columns(let number):
      guard !hasNumbers else { throw fault("columns of the table are expected, no numbers") }
      try count([number])
      return value
    case .field(let counts):
      try count(counts)
      return value
    case .texts: return value
    default: guard texts.count == 1 else { throw fault("one value is expected") }
    }
    switch key.kind {
    case .path, .file:
      guard let path = OpenFolderContent.path(first) else {
        throw fault("`\(first)` leads out of the capture's folder; paths are relative to it")
      }
      value.texts = [path]
    case .choice(let known) where !known.contains(first):
      throw fault(
        known.count == 1
          ? "`\(first)` is not known here, only `\(known[0])`"
          : "`\(first)` is none of \(known.joined(separator: ", "))"
            + Self.suggestion(first, among: known))
    case .number(let range) where !(Double(first).map(range.contains) ?? false):
      throw fault("`\(first)` is no number from \(range.lowerBound) to \(range.upperBound)")
    case .integer(let range) where !(Int(first).map(range.contains) ?? false):
      throw fault("`\(first)` is no whole number from \(range.lowerBound) to \(range.upperBound)")
    default: break
    }
    return value
  }

  /// The nearest value; none among values of the same letters, such as `worldFromCamera` and `cameraFromWorld`: spelling
  /// does not tell which of them `camera_to_world` means.
  private static func suggestion(_ value: String, among known: [String]) -> String {
    let letters = Set(known.map { String($0.lowercased().sorted()) })
    return letters.count == known.count ? NearestName.suggestion(value, among: known) : ""
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
    fault(key.flatMap { values[$0]?.node } ?? node, key, what)
  }

  // MARK: Values

  /// Whether a key is stated, or has a usual value.
  func has(_ key: String) -> Bool { values[key] != nil }
  func text(_ key: String) -> String? { values[key]?.texts.first }
  func texts(_ key: String) -> [String]? { values[key]?.texts }
  func words(_ key: String) -> [String: String] { values[key]?.words ?? [:] }
  func number(_ key: String) -> Double? { text(key).flatMap(Double.init) }
  func integer(_ key: String) -> Int? { text(key).flatMap { Int($0) } }
  func map(_ key: String) -> OpenFolderMap? { values[key]?.maps.first }
  func maps(_ key: String) -> [OpenFolderMap] { values[key]?.maps ?? [] }

  /// The names of columns; none for numbers.
  func columns(_ keys: String...) -> [String] {
    keys.compactMap(texts).filter { !$0.allSatisfy { Double($0) != nil } }.flatMap(\.self)
  }

  /// Stated numbers, or those of the row's columns; `nil` unless all are there.
  func numbers(_ key: String, in row: OpenFolderTable?) -> [Double]? {
    guard let texts = values[key]?.texts else { return nil }
    let numbers = texts.compactMap { Double($0) }
    return numbers.count == texts.count ? numbers : row?.numbers(texts)
  }

  /// A stated number, or that of the row's column; `nil` where there is none, or a list of several.
  func number(_ key: String, in row: OpenFolderTable?) -> Double? {
    guard let numbers = numbers(key, in: row), numbers.count == 1 else { return nil }
    return numbers[0]
  }
}
