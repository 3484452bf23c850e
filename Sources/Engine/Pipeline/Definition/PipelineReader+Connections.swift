import Yams

/// Resolves which stage is connected to which input.
extension PipelineReader {
  /// One stage named under `needs` or `optional`.
  private struct Connection {
    var port: PipelineFile.Text?
    var source: PipelineFile.Text
    var isOptional: Bool
  }

  /// Binds the sources in `entry` to the ports of its stage: first connections that name their
  /// port, then the others to the only port that takes their content.
  mutating func connect(
    _ entry: PipelineFile.StageEntry, names: [String], _ stages: inout [String: StageDefinition]
  ) {
    guard var stage = stages[entry.name.value] else { return }
    let all =
      entry.needs.map { Connection(port: $0.port, source: $0.stage, isOptional: false) }
      + entry.optional.map { Connection(port: $0.port, source: $0.stage, isOptional: true) }
    var areAllBound = !entry.hasMisshapenConnections
    for connection in all.filter({ $0.port != nil }) + all.filter({ $0.port == nil }) {
      guard let upstream = stages[connection.source.value] else {
        // A stage that exists but has an error of its own is not reported here again.
        if !names.contains(connection.source.value) {
          diagnostics.unknownStage(
            connection.source, names.map { ($0, stages[$0]?.kind.name ?? "") })
        }
        areAllBound = false
        continue
      }
      guard let port = port(for: connection, upstream, of: stage) else {
        areAllBound = false
        continue
      }
      if connection.isOptional, port.isRequired {
        diagnostics.add(
          connection.source.mark,
          "'\(stage.name)' cannot do without '\(upstream.name)': name it under 'needs'")
      }
      stage.inputs.append(
        PortBinding(
          port: port.name, stage: upstream.name, isOptional: connection.isOptional))
    }
    stage.inputs = Self.inPortOrder(stage.inputs, stage.kind.ports)
    if areAllBound {
      checkRequired(entry, stage)
      checkProblems(entry, stage)
    }
    stages[entry.name.value] = stage
  }

  /// The port of a connection; `nil` if there is none, which is reported.
  private mutating func port(
    for connection: Connection, _ upstream: StageDefinition, of stage: StageDefinition
  ) -> Port? {
    let content = upstream.kind.content(upstream.parameters)
    let bound = Set(stage.inputs.map(\.port))
    if stage.kind.takesAnyArtifact { return anyPort(connection, upstream, of: stage) }
    let fitting = stage.kind.ports.filter { $0.accepts == content }
    func wrong(_ place: PipelineFile.Text, _ message: String) -> Port? {
      diagnostics.add(place.mark, message)
      return nil
    }
    let made = "'\(upstream.name)', which makes \(content.rawValue)"
    if let name = connection.port {
      guard let port = stage.kind.ports.first(where: { $0.name == name.value }) else {
        diagnostics.unknown(name, among: stage.kind.ports.map(\.name), what: "input")
        return nil
      }
      guard port.accepts == content else {
        return wrong(
          connection.source,
          "input '\(port.name)' takes \(port.accepts.rawValue), not \(made)")
      }
      return bound.contains(port.name)
        ? wrong(name, "input '\(port.name)' is connected twice") : port
    }
    let free = fitting.filter { !bound.contains($0.name) }
    if fitting.isEmpty {
      return wrong(connection.source, "'\(stage.name)' has no input for \(made)")
    }
    if free.isEmpty {
      return wrong(connection.source, "'\(stage.name)' has no input left for \(made)")
    }
    if free.count > 1 {
      let names = free.map { "'\($0.name)'" }.joined(separator: " or ")
      return wrong(
        connection.source,
        "'\(upstream.name)' could be input \(names): write {\(free[0].name): \(upstream.name)}")
    }
    return free.first
  }

  /// A port with the name that the pipeline states, else with that of the source stage.
  private mutating func anyPort(
    _ connection: Connection, _ upstream: StageDefinition, of stage: StageDefinition
  ) -> Port? {
    let name = connection.port ?? connection.source
    guard !stage.inputs.contains(where: { $0.port == name.value }) else {
      diagnostics.add(name.mark, "input '\(name.value)' is connected twice")
      return nil
    }
    return Port(
      name.value, upstream.kind.content(upstream.parameters), isRequired: !connection.isOptional,
      "what '\(upstream.name)' makes")
  }

  /// Adds the problems that the kind of stage finds itself, at the parameter concerned.
  mutating func checkProblems(_ entry: PipelineFile.StageEntry, _ stage: StageDefinition) {
    for problem in stage.kind.problems(stage) {
      let parameter = entry.with.first { $0.name.value == problem.parameter }
      diagnostics.add(parameter?.value.mark ?? entry.name.mark, problem.message)
    }
  }

  private mutating func checkRequired(
    _ entry: PipelineFile.StageEntry, _ stage: StageDefinition
  ) {
    for port in stage.kind.ports
    where port.isRequired && !stage.inputs.contains(where: { $0.port == port.name }) {
      diagnostics.add(
        entry.name.mark,
        "'\(stage.name)' needs a stage that makes \(port.accepts.rawValue) (input '\(port.name)')")
    }
  }

  private static func inPortOrder(_ inputs: [PortBinding], _ ports: [Port]) -> [PortBinding] {
    ports.flatMap { port in inputs.filter { $0.port == port.name } }
      + inputs.filter { input in !ports.contains { $0.name == input.port } }
  }
}
