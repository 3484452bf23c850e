import Core
import Yams

/// Converts a pipeline file to a `PipelineDefinition` and reports all of its errors at once.
public struct PipelineReader {
  private let registry: StageRegistry
  var diagnostics: DiagnosticList
  private let name: String

  /// Reads `text`. `file` is its name in messages. A text that was read without an error is not read again.
  public static func read(
    _ text: String, file: String, registry: StageRegistry
  ) throws(PipelineError) -> PipelineDefinition {
    if let known = registry.definitions[file, text] { return known }
    // Some editors add a byte order mark.
    let plain =
      text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    var reader = PipelineReader(plain, file: file, registry: registry)
    let definition = try reader.read(plain)
    registry.definitions[file, text] = definition
    return definition
  }

  private init(_ text: String, file: String, registry: StageRegistry) {
    self.registry = registry
    name = file
    diagnostics = DiagnosticList(file: file, text: text)
  }

  private mutating func read(_ text: String) throws(PipelineError) -> PipelineDefinition {
    let (entries, shortfall) = entries(of: text)
    let names = entries.map(\.name.string)
    var stages: [String: StageDefinition] = [:]
    for entry in entries {
      if let stage = stage(entry, names: names) { stages[entry.name.string] = stage }
    }
    for entry in entries { checkOwner(entry, stages) }
    for entry in entries { setParameters(entry, &stages) }
    for entry in entries { connect(entry, names: names, &stages) }
    let order = sorted(entries)
    let percent = value(
      of: shortfall, "shortfall is a percentage with its sign, 0% to 100%, such as 2%",
      PercentText.percent)
    try diagnostics.check()
    var pipeline = PipelineDefinition(name: name, stages: order.compactMap { stages[$0] })
    if let percent { pipeline.shortfallPercent = percent }
    return pipeline
  }

  /// The value of a text; `nil` without a text, and for one that is refused, which is reported.
  private mutating func value<Value>(
    of text: Node.Scalar?, _ problem: String, _ read: (String) -> Value?
  ) -> Value? {
    guard let text else { return nil }
    let value = read(text.string)
    if value == nil { diagnostics.add(text.mark, problem) }
    return value
  }

  private mutating func stage(
    _ entry: StageEntry, names: [String]
  ) -> StageDefinition? {
    if Self.reservedNames.contains(entry.name.string) {
      diagnostics.add(
        entry.name.mark, "'\(entry.name.string)' is a name that the output folder uses itself")
    } else if !Self.isUsable(entry.name.string) {
      diagnostics.add(
        entry.name.mark,
        "a stage name is a folder name: letters, digits, '.', '_' and '-', no '.' at its start")
    }
    guard let uses = entry.uses else {
      if !entry.isMisshapen {
        diagnostics.add(entry.name.mark, "stage '\(entry.name.string)' has no 'uses'")
      }
      return nil
    }
    guard let kind = registry[uses.string] else {
      diagnostics.unknownKind(uses, among: registry.stages.map { $0.name }, stages: names)
      return nil
    }
    var stage = StageDefinition(
      name: entry.name.string, kind: kind, parameters: ParameterValues(defaultsOf: kind.parameters))
    stage.keep = value(of: entry.keep, "keep is true or false") { Bool($0) } ?? true
    if let owner = entry.partOf {
      stage.partOf = owner.string
      if owner.string == entry.name.string {
        diagnostics.add(owner.mark, "a stage cannot be part of itself")
      } else if !names.contains(owner.string) {
        diagnostics.unknown(owner, among: names, what: "stage")
      }
    }
    stage.retries =
      value(of: entry.retries, "retries is a whole number, 0 to 100") {
        Int($0).flatMap { (0...100).contains($0) ? $0 : nil }
      } ?? 0
    stage.timeoutNanoseconds = value(
      of: entry.timeout, "timeout is a duration with its unit, such as 30m",
      DurationSyntax.nanoseconds)
    stage.stallNanoseconds = value(
      of: entry.stall, "stall is a duration with its unit, such as 10min"
    ) {
      DurationSyntax.nanoseconds($0).flatMap { $0 > 0 ? $0 : nil }
    }
    for (name, text) in entry.resources {
      switch name.string {
      case "memory":
        stage.memoryBytes = value(
          of: text, "memory is a size with its unit, such as 2GB", SizeText.bytes)
      case "cpus":
        stage.cpus = value(of: text, "cpus is a whole number, 1 to 1024") {
          Int($0).flatMap { Self.cpus.contains($0) ? $0 : nil }
        }
      case "time":
        stage.timeSeconds = value(
          of: text, "time is a duration with its unit, such as 30m, up to 365 days"
        ) { DurationSyntax.nanoseconds($0).flatMap(Self.seconds(nanoseconds:)) }
      default: diagnostics.unknown(name, among: Self.resourceNames, what: "resource")
      }
    }
    return stage
  }

  /// Resources that a stage requests from a batch system.
  private static let resourceNames = ["memory", "cpus", "time"]
  private static let cpus = 1...1024

  /// A year: longer times are mistakes, and sums must not overflow.
  private static let mostSeconds: Int64 = 365 * 24 * 3600

  /// Whole seconds, rounded up; `nil` for zero and for more than a year.
  private static func seconds(nanoseconds: Int64) -> Int? {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    guard nanoseconds > 0, whole < mostSeconds || (whole == mostSeconds && rest == 0) else {
      return nil
    }
    return Int(whole) + (rest > 0 ? 1 : 0)
  }

  private mutating func checkOwner(
    _ entry: StageEntry, _ stages: [String: StageDefinition]
  ) {
    guard let owner = entry.partOf, owner.string != entry.name.string,
      let above = stages[owner.string]?.partOf
    else { return }
    diagnostics.add(owner.mark, "'\(owner.string)' is itself part of '\(above)'")
  }

  private mutating func setParameters(
    _ entry: StageEntry, _ stages: inout [String: StageDefinition]
  ) {
    for (name, node) in entry.with {
      let owners = Self.owners(of: name.string, in: entry.name.string, stages)
      if owners.isEmpty {
        let known = stages.values
          .filter { $0.name == entry.name.string || $0.partOf == entry.name.string }
          .sorted { ($0.partOf ?? "", $0.name) < ($1.partOf ?? "", $1.name) }
          .flatMap { $0.kind.parameters.map(\.name) }
        if let gone = Self.gone(name.string, in: entry.name.string, stages) {
          diagnostics.add(name.mark, "'\(name.string)' \(gone)")
        } else if stages[entry.name.string] != nil {
          diagnostics.unknownParameter(name, of: known)
        }
        continue
      }
      for owner in owners {
        guard
          let description = Self.description(
            of: name.string, in: entry.name.string, taker: stages[owner])
        else { continue }
        switch Self.value(node, description) {
        case .success(let value): stages[owner]?.parameters[description.name] = value
        case .failure(let error): diagnostics.add(node.mark, error.description)
        }
      }
    }
  }

  /// The stages that receive `parameter` when it is set on `stage`: itself or its inner steps, and
  /// stages that share it under that name.
  static func owners(
    of parameter: String, in stage: String, _ stages: [String: StageDefinition]
  ) -> [String] {
    stages.values
      .filter { description(of: parameter, in: stage, taker: $0) != nil }
      .map(\.name).sorted()
  }

  /// What became of a parameter that `stage` or one of its inner steps once had.
  static func gone(
    _ parameter: String, in stage: String, _ stages: [String: StageDefinition]
  ) -> String? {
    stages.values.lazy.filter { $0.name == stage || $0.partOf == stage }
      .compactMap { $0.kind.goneParameters[parameter] }.first?
      .replacing("{stage}", with: stage)
  }

  /// The parameter of `taker` that `parameter` of `stage` refers to; `nil` if there is none.
  static func description(
    of parameter: String, in stage: String, taker: StageDefinition?
  ) -> ParameterDescription? {
    guard let taker else { return nil }
    let isOwn = taker.name == stage || taker.partOf == stage
    return taker.kind.parameters.first { $0.answers(to: parameter, of: stage, isOwn: isOwn) }
  }

  private static func value(
    _ node: Node, _ description: ParameterDescription
  ) -> Result<ParameterValue, ParameterError> {
    func refused(_ given: String) -> Result<ParameterValue, ParameterError> {
      .failure(ParameterError(name: description.name, given: given, expected: description.domain))
    }
    if case .list = description.kind, let items = node.sequence {
      let texts = items.compactMap(\.scalar?.string)
      return texts.count == items.count ? .success(.list(texts)) : refused("a list with maps in it")
    }
    guard let scalar = node.scalar else { return refused(node.mapping == nil ? "a list" : "a map") }
    do throws(ParameterError) {
      return .success(try description.value(from: scalar.string))
    } catch {
      return .failure(error)
    }
  }

  /// Names next to the stages' folders in the output.
  private static let reservedNames: Set<String> = ["runs", "capture.json", "report.html"]

  /// Whether a name is usable as a folder; those with a leading dot are reserved.
  private static func isUsable(_ name: String) -> Bool {
    guard let first = name.first, first != "." else { return false }
    return name.utf8.allSatisfy { $0.isLetterOrDigit || "._-".utf8.contains($0) }
  }

  // Resolves which stage is connected to which input.

  /// Binds the sources in `entry` to the ports of its stage: first connections that name their
  /// port, then the others to the only port that takes their content.
  mutating func connect(
    _ entry: StageEntry, names: [String], _ stages: inout [String: StageDefinition]
  ) {
    guard var stage = stages[entry.name.string] else { return }
    let all = entry.connections
    var areAllBound = !entry.hasMisshapenConnections
    for connection in all.filter({ $0.port != nil }) + all.filter({ $0.port == nil }) {
      guard let upstream = stages[connection.source.string] else {
        // A stage that exists but has an error of its own is not reported here again.
        if !names.contains(connection.source.string) {
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
    stages[entry.name.string] = stage
  }

  /// The port of a connection; `nil` if there is none, which is reported.
  private mutating func port(
    for connection: StageEntry.Connection, _ upstream: StageDefinition, of stage: StageDefinition
  ) -> Port? {
    let content = upstream.kind.content(upstream.parameters)
    let bound = Set(stage.inputs.map(\.port))
    if stage.kind.takesAnyArtifact { return anyPort(connection, upstream, of: stage) }
    let fitting = stage.kind.ports.filter { $0.accepts == content }
    func wrong(_ place: Node.Scalar, _ message: String) -> Port? {
      diagnostics.add(place.mark, message)
      return nil
    }
    let made = "'\(upstream.name)', which makes \(content.rawValue)"
    if let name = connection.port {
      guard let port = stage.kind.ports.first(where: { $0.name == name.string }) else {
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
    _ connection: StageEntry.Connection, _ upstream: StageDefinition, of stage: StageDefinition
  ) -> Port? {
    let name = connection.port ?? connection.source
    guard !stage.inputs.contains(where: { $0.port == name.string }) else {
      diagnostics.add(name.mark, "input '\(name.string)' is connected twice")
      return nil
    }
    return Port(
      name.string, upstream.kind.content(upstream.parameters), isRequired: !connection.isOptional,
      "what '\(upstream.name)' makes")
  }

  /// Adds the problems that the kind of stage finds itself, at the parameter concerned.
  mutating func checkProblems(_ entry: StageEntry, _ stage: StageDefinition) {
    for problem in stage.kind.problems(stage) {
      let parameter = entry.with.first { $0.name.string == problem.parameter }
      diagnostics.add(parameter?.value.mark ?? entry.name.mark, problem.message)
    }
  }

  private mutating func checkRequired(
    _ entry: StageEntry, _ stage: StageDefinition
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

  /// Sorts stages so that each follows the stages that it needs, otherwise in the order of the file. Reports every cycle
  /// once, as the path around it.
  private mutating func sorted(_ entries: [StageEntry]) -> [String] {
    var needs: [String: [String]] = [:]
    for entry in entries {
      needs[entry.name.string] = entry.connections.map(\.source.string)
    }
    var order: [String] = []
    var done: Set<String> = []

    func visit(_ name: String, path: [String]) -> [String]? {
      if done.contains(name) || needs[name] == nil { return nil }
      if let start = path.firstIndex(of: name) { return Array(path[start...]) + [name] }
      for need in needs[name] ?? [] {
        if let cycle = visit(need, path: path + [name]) { return cycle }
      }
      done.insert(name)
      order.append(name)
      return nil
    }

    for entry in entries {
      while let cycle = visit(entry.name.string, path: []) {
        let mark = entries.first { $0.name.string == cycle[0] }?.name.mark
        diagnostics.add(
          mark,
          "stages need each other in a circle: " + cycle.joined(separator: " -> ")
            + "; take one of them out of 'needs'")
        // The cycle is marked as done, so that the next one is found.
        done.formUnion(cycle)
      }
    }
    return order
  }
}
