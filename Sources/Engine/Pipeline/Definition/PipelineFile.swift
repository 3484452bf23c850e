import Core
import Yams

/// A pipeline file as written: names and texts with their positions, before any name is resolved.
struct PipelineFile {
  struct Text {
    var value: String
    var mark: Mark?
  }

  struct StageEntry {
    var name: Text
    var uses: Text?
    var with: [(name: Text, value: Node)] = []
    var needs: [(port: Text?, stage: Text)] = []
    var optional: [(port: Text?, stage: Text)] = []
    var keep: Text?
    var partOf: Text?
    var resources: [(name: Text, value: Text)] = []
    var retries: Text?
    var timeout: Text?
    var stall: Text?
    /// Whether `uses` has an error already, so that it is not reported as missing.
    var isMisshapen = false
    /// Whether a connection could not be read, so that none is reported as missing.
    var hasMisshapenConnections = false
  }

  static let topKeys = ["schema", "stages", "description", "shortfall"]
  static let stageKeys = [
    "uses", "with", "needs", "optional", "keep", "partOf", "resources", "retries", "timeout",
    "stall",
  ]

  var stages: [StageEntry] = []
  var shortfall: Text?

  /// Reads the composed document; errors are added to `diagnostics`.
  init(_ text: String, _ diagnostics: inout DiagnosticList) {
    guard
      let (root, top) = diagnostics.map(of: text, "a pipeline", with: "'schema' and 'stages'")
    else { return }
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
      case "shortfall": shortfall = Self.scalar(value, &diagnostics)
      default: diagnostics.unknown(key, among: Self.topKeys, what: "key")
      }
    }
    if !hasSchema { diagnostics.add(root.mark, "'schema: 1' is missing") }
    guard let stagesNode, let entries = stagesNode.mapping, !entries.isEmpty else {
      diagnostics.add(stagesNode?.mark ?? root.mark, "'stages' must be a map of at least one stage")
      return
    }
    for (key, value) in entries {
      stages.append(Self.stage(key, value, &diagnostics))
    }
  }

  private static func stage(
    _ key: Node, _ value: Node, _ diagnostics: inout DiagnosticList
  ) -> StageEntry {
    var stage = StageEntry(name: Text(value: key.string ?? "", mark: key.mark))
    guard let map = value.mapping else {
      diagnostics.add(
        value.mark, "stage '\(stage.name.value)' must be a map with 'uses', indented below its name"
      )
      stage.isMisshapen = true
      return stage
    }
    for (key, value) in map {
      switch key.string ?? "" {
      case "uses":
        stage.uses = scalar(value, &diagnostics)
        stage.isMisshapen = stage.uses == nil
      case "with":
        for (name, value) in mapping(value, &diagnostics) {
          stage.with.append((Text(value: name.string ?? "", mark: name.mark), value))
        }
      case "needs", "optional":
        let before = diagnostics.all.count
        let connections = connections(value, &diagnostics)
        if key.string == "needs" {
          stage.needs = connections
        } else {
          stage.optional = connections
        }
        if diagnostics.all.count > before { stage.hasMisshapenConnections = true }
      case "keep": stage.keep = scalar(value, &diagnostics)
      case "partOf": stage.partOf = scalar(value, &diagnostics)
      case "resources":
        for (name, value) in mapping(value, &diagnostics) {
          guard let text = scalar(value, &diagnostics) else { continue }
          stage.resources.append((Text(value: name.string ?? "", mark: name.mark), text))
        }
      case "retries": stage.retries = scalar(value, &diagnostics)
      case "timeout": stage.timeout = scalar(value, &diagnostics)
      case "stall": stage.stall = scalar(value, &diagnostics)
      default: diagnostics.unknown(key, among: stageKeys, what: "key")
      }
    }
    return stage
  }

  private static func scalar(_ node: Node, _ diagnostics: inout DiagnosticList) -> Text? {
    guard let scalar = node.scalar else {
      diagnostics.add(node.mark, "a single value is expected here")
      return nil
    }
    return Text(value: scalar.string, mark: node.mark)
  }

  private static func mapping(
    _ node: Node, _ diagnostics: inout DiagnosticList
  ) -> [(Node, Node)] {
    if let map = node.mapping { return map.map { ($0.key, $0.value) } }
    diagnostics.add(node.mark, "a map is expected here")
    return []
  }

  /// `[a, b]`, or `{port: a}` if the stage has several inputs of one kind.
  private static func connections(
    _ node: Node, _ diagnostics: inout DiagnosticList
  ) -> [(port: Text?, stage: Text)] {
    if let list = node.sequence {
      return list.compactMap { item in
        scalar(item, &diagnostics).map { (port: nil, stage: $0) }
      }
    }
    if let map = node.mapping {
      return map.compactMap { key, value in
        scalar(value, &diagnostics).map {
          (port: Text(value: key.string ?? "", mark: key.mark), stage: $0)
        }
      }
    }
    diagnostics.add(node.mark, "a list of stages, or a map from input to stage, is expected here")
    return []
  }
}
