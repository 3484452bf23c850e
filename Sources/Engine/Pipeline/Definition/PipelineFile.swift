import Core
import Yams

/// A stage of a pipeline file as written: names and texts with their positions, before any name is resolved.
struct StageEntry {
  /// One stage named under `needs` or `optional`.
  struct Connection {
    var port: Node.Scalar?
    var source: Node.Scalar
    var isOptional: Bool
  }

  var name: Node.Scalar
  var uses: Node.Scalar?
  var with: [(name: Node.Scalar, value: Node)] = []
  /// Those under `needs`, then those under `optional`.
  var connections: [Connection] = []
  var keep: Node.Scalar?
  var partOf: Node.Scalar?
  var resources: [(name: Node.Scalar, value: Node.Scalar)] = []
  var retries: Node.Scalar?
  var timeout: Node.Scalar?
  var stall: Node.Scalar?
  /// Whether `uses` has an error already, so that it is not reported as missing.
  var isMisshapen = false
  /// Whether a connection could not be read, so that none is reported as missing.
  var hasMisshapenConnections = false
}

extension PipelineReader {
  private static let topKeys = ["schema", "stages", "description", "shortfall"]
  private static let stageKeys = [
    "uses", "with", "needs", "optional", "keep", "partOf", "resources", "retries", "timeout",
    "stall",
  ]

  /// What the composed document has; errors are added to `diagnostics`.
  mutating func entries(of text: String) -> (stages: [StageEntry], shortfall: Node.Scalar?) {
    var shortfall: Node.Scalar?
    guard
      let (root, top) = diagnostics.map(of: text, "a pipeline", with: "'schema' and 'stages'")
    else { return ([], nil) }
    var hasSchema = false
    var stagesNode: Node?
    for (key, value) in top {
      let name = key.string ?? ""
      switch name {
      case "schema":
        hasSchema = true
        if value.string != "1" { diagnostics.add(value.mark, "schema is 1 in this version") }
      case "stages": stagesNode = value
      case "description": break
      case "shortfall": shortfall = scalar(value)
      default: diagnostics.unknown(key, among: Self.topKeys, what: "key")
      }
    }
    if !hasSchema { diagnostics.add(root.mark, "'schema: 1' is missing") }
    guard let stagesNode, let entries = stagesNode.mapping, !entries.isEmpty else {
      diagnostics.add(stagesNode?.mark ?? root.mark, "'stages' must be a map of at least one stage")
      return ([], shortfall)
    }
    return (entries.map { entry($0.key, $0.value) }, shortfall)
  }

  private mutating func entry(_ key: Node, _ value: Node) -> StageEntry {
    var stage = StageEntry(name: Self.name(key))
    guard let map = value.mapping else {
      diagnostics.add(
        value.mark,
        "stage '\(stage.name.string)' must be a map with 'uses', indented below its name"
      )
      stage.isMisshapen = true
      return stage
    }
    for (key, value) in map {
      switch key.string ?? "" {
      case "uses":
        stage.uses = scalar(value)
        stage.isMisshapen = stage.uses == nil
      case "with":
        for (name, value) in mapping(value) {
          stage.with.append((Self.name(name), value))
        }
      case "needs", "optional":
        let before = diagnostics.all.count
        if key.string == "needs" {
          stage.connections = connections(value, isOptional: false) + stage.connections
        } else {
          stage.connections += connections(value, isOptional: true)
        }
        if diagnostics.all.count > before { stage.hasMisshapenConnections = true }
      case "keep": stage.keep = scalar(value)
      case "partOf": stage.partOf = scalar(value)
      case "resources":
        for (name, value) in mapping(value) {
          guard let text = scalar(value) else { continue }
          stage.resources.append((Self.name(name), text))
        }
      case "retries": stage.retries = scalar(value)
      case "timeout": stage.timeout = scalar(value)
      case "stall": stage.stall = scalar(value)
      default: diagnostics.unknown(key, among: Self.stageKeys, what: "key")
      }
    }
    return stage
  }

  private static func name(_ key: Node) -> Node.Scalar {
    key.scalar ?? Node.Scalar("", .implicit, .any, key.mark)
  }

  private mutating func scalar(_ node: Node) -> Node.Scalar? {
    if let scalar = node.scalar { return scalar }
    diagnostics.add(node.mark, "a single value is expected here")
    return nil
  }

  private mutating func mapping(_ node: Node) -> [(Node, Node)] {
    if let map = node.mapping { return map.map { ($0.key, $0.value) } }
    diagnostics.add(node.mark, "a map is expected here")
    return []
  }

  /// `[a, b]`, or `{port: a}` if the stage has several inputs of one kind.
  private mutating func connections(
    _ node: Node, isOptional: Bool
  ) -> [StageEntry.Connection] {
    var items: [(port: Node.Scalar?, source: Node)] = []
    if let list = node.sequence {
      items = list.map { (nil, $0) }
    } else if let map = node.mapping {
      items = map.map { (Self.name($0.key), $0.value) }
    } else {
      diagnostics.add(node.mark, "a list of stages, or a map from input to stage, is expected here")
    }
    return items.compactMap { item in
      scalar(item.source).map {
        StageEntry.Connection(port: item.port, source: $0, isOptional: isOptional)
      }
    }
  }
}
