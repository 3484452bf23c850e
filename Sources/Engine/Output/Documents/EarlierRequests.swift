import Core
import SystemPackage

/// `DIR/<capture-id>/.scanmill/asked.json`: stages with a published result that the last run of the capture
/// did not ask for, with the pipelines and settings under which they were asked for last. Absent when there
/// are none, as after a run of the whole pipeline. `memo.json` holds what the last run asked for.
package struct EarlierRequests: Hashable, Sendable, Codable {
  package struct Request: Hashable, Sendable, Codable {
    var source: PipelineSource
    /// Sorted.
    package var stages: [String]
  }

  package var schema = 1
  /// The latest first; a stage is named by one of them at most.
  var requests: [Request] = []

  package static let fileName = OutputNames.asked

  init() {}

  /// Empty where nothing is noted, or the note is damaged. Cost: a small file, which most captures do not have.
  init(of layout: OutputLayout) {
    self.init(OpenOutput(layout))
  }

  init(_ open: OpenOutput) {
    guard let noted = NotesFile.read(EarlierRequests.self, Self.fileName, of: open),
      noted.schema == 1
    else { return }
    self = noted
  }

  /// What is earlier once a run begins. Pure.
  ///
  /// - Parameters:
  ///   - last: what the run before it asked for; `nil`: not known.
  ///   - selected: the stages that the new run is about.
  ///   - published: stages with a record.
  func adding(_ last: PipelineSource?, selected: Set<String>, published: Set<String>)
    -> EarlierRequests
  {
    var result = EarlierRequests()
    var rest = published.subtracting(selected)
    for request in requests {
      let own = rest.intersection(request.stages)
      rest.subtract(own)
      if !own.isEmpty {
        result.requests.append(Request(source: request.source, stages: own.sorted()))
      }
    }
    // What no earlier run is known to have asked for, the last one did.
    guard let last, !rest.isEmpty else { return result }
    if let index = result.requests.firstIndex(where: { $0.source == last }) {
      var request = result.requests.remove(at: index)
      request.stages = Set(request.stages).union(rest).sorted()
      result.requests.insert(request, at: 0)
    } else {
      result.requests.insert(Request(source: last, stages: rest.sorted()), at: 0)
    }
    return result
  }

  /// Notes it. Only for the holder of the lock, before the cache is written: a run that is killed leaves what
  /// was asked for before.
  ///
  /// - Parameters:
  ///   - source: what the new run asks for; `nil`: it was given as no text, and nothing is noted.
  ///   - selected: the stages that it is about.
  package static func note(
    _ source: PipelineSource?, selected: Set<String>, in output: CaptureOutput
  ) throws(FileError) {
    guard let source, let last = CaptureCache(of: output.layout)?.pipeline, last != source
    else { return }
    let before = EarlierRequests(of: output.layout)
    let after = before.adding(
      last, selected: selected, published: try published(in: output))
    if after == before { return }
    if after.requests.isEmpty { return try output.notes.remove(fileName) }
    guard let bytes = try? JSONText.pretty(after) else { return }
    try output.notes.replace(fileName, with: bytes)
  }

  /// Stages of which there is a record, published or removed after use.
  private static func published(in output: CaptureOutput) throws(FileError) -> Set<String> {
    var found: Set<String> = []
    for name in try output.folder.names() where !name.hasPrefix(".") {
      if FileSystem.exists(output.layout.record(name)) { found.insert(name) }
    }
    for name in try output.existingRemovedRecords()?.names() ?? [] where name.hasSuffix(".json") {
      found.insert(String(name.dropLast(".json".count)))
    }
    return found
  }
}

extension PipelineDefinition {
  /// This pipeline, that of the last run, with stages that an earlier run asked for: their definitions are those
  /// of that run, and what they need and this pipeline lacks comes with them. Unchanged where the two cannot be
  /// put in one order.
  func adding(_ names: [String], of earlier: PipelineDefinition) -> PipelineDefinition {
    let named = Set(names)
    let needed = named.reduce(into: named) { $0.formUnion(earlier.ancestors(of: $1)) }
    var stages = self.stages
    for stage in earlier.stages {
      if let index = stages.firstIndex(where: { $0.name == stage.name }) {
        if named.contains(stage.name) { stages[index] = stage }
      } else if needed.contains(stage.name) {
        stages.append(stage)
      }
    }
    guard let ordered = Self.ordered(stages) else { return self }
    var result = self
    result.stages = ordered
    return result
  }

  /// Every stage behind what it needs, otherwise in the order given; `nil` where they need each other in a circle.
  private static func ordered(_ stages: [StageDefinition]) -> [StageDefinition]? {
    let all = Set(stages.map(\.name))
    var rest = stages
    var done: Set<String> = []
    var ordered: [StageDefinition] = []
    while !rest.isEmpty {
      guard
        let index = rest.firstIndex(where: { stage in
          stage.inputs.allSatisfy { !all.contains($0.stage) || done.contains($0.stage) }
        })
      else { return nil }
      done.insert(rest[index].name)
      ordered.append(rest.remove(at: index))
    }
    return ordered
  }
}
