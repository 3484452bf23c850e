import Yams

/// Converts a pipeline file to a `PipelineDefinition` and reports all of its errors at once.
public struct PipelineReader {
  private let registry: StageRegistry
  var diagnostics: DiagnosticList
  private let name: String

  /// Reads `text`. `file` is its name in messages.
  public static func read(
    _ text: String, file: String, registry: StageRegistry
  ) throws(PipelineError) -> PipelineDefinition {
    // Some editors add a byte order mark.
    let text =
      text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    var reader = PipelineReader(text, file: file, registry: registry)
    return try reader.read(text)
  }

  private init(_ text: String, file: String, registry: StageRegistry) {
    self.registry = registry
    name = file
    diagnostics = DiagnosticList(file: file, text: text)
  }

  private mutating func read(_ text: String) throws(PipelineError) -> PipelineDefinition {
    let file = PipelineFile(text, &diagnostics)
    let names = file.stages.map(\.name.value)
    var stages: [String: StageDefinition] = [:]
    for entry in file.stages {
      if let stage = stage(entry, names: names) { stages[entry.name.value] = stage }
    }
    for entry in file.stages { checkOwner(entry, stages) }
    for entry in file.stages { setParameters(entry, &stages) }
    for entry in file.stages { connect(entry, names: names, &stages) }
    let order = StageOrder.sort(file.stages, &diagnostics)
    let percent = file.shortfall.flatMap { shortfall($0) }
    try diagnostics.check()
    var pipeline = PipelineDefinition(name: name, stages: order.compactMap { stages[$0] })
    if let percent { pipeline.shortfallPercent = percent }
    return pipeline
  }

  private mutating func shortfall(_ text: PipelineFile.Text) -> Double? {
    let percent = PercentText.percent(text.value)
    if percent == nil {
      diagnostics.add(text.mark, "shortfall is a percentage with its sign, 0% to 100%, such as 2%")
    }
    return percent
  }

  private mutating func stage(
    _ entry: PipelineFile.StageEntry, names: [String]
  ) -> StageDefinition? {
    if Self.reservedNames.contains(entry.name.value) {
      diagnostics.add(
        entry.name.mark, "'\(entry.name.value)' is a name that the output folder uses itself")
    } else if !Self.isUsable(entry.name.value) {
      diagnostics.add(
        entry.name.mark,
        "a stage name is a folder name: letters, digits, '.', '_' and '-', no '.' at its start")
    }
    guard let uses = entry.uses else {
      if !entry.isMisshapen {
        diagnostics.add(entry.name.mark, "stage '\(entry.name.value)' has no 'uses'")
      }
      return nil
    }
    guard let kind = registry[uses.value] else {
      diagnostics.unknownKind(uses, among: registry.stages.map { $0.name }, stages: names)
      return nil
    }
    var stage = StageDefinition(
      name: entry.name.value, kind: kind, parameters: ParameterValues(defaultsOf: kind.parameters))
    if let keep = entry.keep {
      switch keep.value {
      case "true": break
      case "false": stage.keep = false
      default: diagnostics.add(keep.mark, "keep is true or false")
      }
    }
    if let owner = entry.partOf {
      stage.partOf = owner.value
      if owner.value == entry.name.value {
        diagnostics.add(owner.mark, "a stage cannot be part of itself")
      } else if !names.contains(owner.value) {
        diagnostics.unknown(owner, among: names, what: "stage")
      }
    }
    if let retries = entry.retries {
      if let count = Int(retries.value), (0...100).contains(count) {
        stage.retries = count
      } else {
        diagnostics.add(retries.mark, "retries is a whole number, 0 to 100")
      }
    }
    if let timeout = entry.timeout {
      stage.timeoutNanoseconds = DurationSyntax.nanoseconds(timeout.value)
      if stage.timeoutNanoseconds == nil {
        diagnostics.add(timeout.mark, "timeout is a duration with its unit, such as 30m")
      }
    }
    if let stall = entry.stall {
      stage.stallNanoseconds = DurationSyntax.nanoseconds(stall.value)
      if stage.stallNanoseconds ?? 0 <= 0 {
        diagnostics.add(stall.mark, "stall is a duration with its unit, such as 10min")
      }
    }
    for (name, value) in entry.resources {
      switch name.value {
      case "memory":
        stage.memoryBytes = SizeText.bytes(value.value)
        if stage.memoryBytes == nil {
          diagnostics.add(value.mark, "memory is a size with its unit, such as 2GB")
        }
      case "cpus":
        stage.cpus = Int(value.value).flatMap { StageResources.cpus.contains($0) ? $0 : nil }
        if stage.cpus == nil {
          diagnostics.add(value.mark, "cpus is a whole number, 1 to 1024")
        }
      case "time":
        stage.timeSeconds = DurationSyntax.nanoseconds(value.value).flatMap(
          StageResources.seconds(nanoseconds:))
        if stage.timeSeconds == nil {
          diagnostics.add(
            value.mark, "time is a duration with its unit, such as 30m, up to 365 days")
        }
      default: diagnostics.unknown(name, among: StageResources.names, what: "resource")
      }
    }
    return stage
  }

  private mutating func checkOwner(
    _ entry: PipelineFile.StageEntry, _ stages: [String: StageDefinition]
  ) {
    guard let owner = entry.partOf, owner.value != entry.name.value,
      let above = stages[owner.value]?.partOf
    else { return }
    diagnostics.add(owner.mark, "'\(owner.value)' is itself part of '\(above)'")
  }

  private mutating func setParameters(
    _ entry: PipelineFile.StageEntry, _ stages: inout [String: StageDefinition]
  ) {
    for (name, node) in entry.with {
      let owners = Self.owners(of: name.value, in: entry.name.value, stages)
      if owners.isEmpty {
        let known = stages.values
          .filter { $0.name == entry.name.value || $0.partOf == entry.name.value }
          .sorted { ($0.partOf ?? "", $0.name) < ($1.partOf ?? "", $1.name) }
          .flatMap { $0.kind.parameters.map(\.name) }
        if stages[entry.name.value] != nil {
          diagnostics.unknownParameter(name, of: known)
        }
        continue
      }
      for owner in owners {
        guard
          let description = Self.description(
            of: name.value, in: entry.name.value, taker: stages[owner])
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
    return name.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }
}
