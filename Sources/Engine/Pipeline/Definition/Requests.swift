import Captures
import Core
import Synchronization
import SystemPackage

/// What a capture was asked for, run after run. It only grows: asking for one thing more takes nothing back.
///
/// A parameter has the value that was named for it last, by a pipeline file or a setting; of several texts of one
/// pipeline file only the latest names values.
public struct Requests: Hashable, Sendable, Codable {
  /// The pipelines that were asked for, oldest first. Those that add nothing to the others are left out.
  private(set) var sources: [PipelineSource] = []
  /// Stages whose artifacts `clean` removed, with the moment (UTC). They are not made again before a run by hand
  /// asks for them.
  package var cleaned: [String: String] = [:]

  package init() {}

  init(_ source: PipelineSource) { sources = [source] }

  /// What the last run asked for.
  public var last: PipelineSource? { sources.last }

  /// These requests and one more, the latest.
  func adding(_ source: PipelineSource, _ reader: RequestReader) -> Requests {
    var result = self
    result.sources.removeAll { $0 == source }
    result.sources.append(source)
    let whole = reader.read(result)
    for old in result.sources.dropLast() {
      var less = result
      less.sources.removeAll { $0 == old }
      if let whole, let rest = reader.read(less), rest.asksForSame(as: whole) { result = less }
    }
    return result
  }

  /// These requests without the settings that this program does not know.
  func withoutLost(_ reader: RequestReader) -> Requests {
    var result = self
    for index in sources.indices {
      let lost = reader.lostSettings(of: sources[index])
      result.sources[index].settings.removeAll(where: lost.contains)
    }
    return result
  }

  /// Tells requests apart.
  var digest: Digest? {
    sources.isEmpty ? nil : (try? JSONText.canonical(self)).map { Digest(of: $0) }
  }
}

/// A setting, or a pipeline, that an earlier run asked for and that this program does not know.
struct LostRequest: Hashable {
  /// `quality.blurPixels=3`
  var what: String
  var why: String

  /// - Parameter captures: how many were asked for it; `nil`: it is told of one.
  func words(captures: Int? = nil) -> String {
    let place = captures.map { " in \(Plural.text($0, "capture"))" } ?? ""
    return "\(what) of an earlier run counts no more\(place): \(why)"
  }
}

/// The stages of a pipeline that requests are about: those that one of them names.
struct StageChoice: Hashable {
  struct Part: Hashable {
    /// The stages of the request's own pipeline; `nil`: those of the whole pipeline.
    var own: Set<String>?
    var limits = Selection()
  }

  var parts: [Part]
  /// Stages that count nowhere, whoever named them.
  var without: Set<String> = []
  /// Those of them whose artifact `clean` removed: where a chosen stage that must be made reads it, it is made as an
  /// intermediate, and removed at the end of the run.
  var cleaned: Set<String> = []

  init(_ parts: [Part]) { self.parts = parts }

  init(_ selection: Selection) { self.init([Part(limits: selection)]) }

  /// Their names in `pipeline`, inner steps included.
  func stages(of pipeline: PipelineDefinition) -> Set<String> {
    let all = Set(pipeline.stages.map(\.name))
    var chosen = parts.reduce(into: Set<String>()) { chosen, part in
      if part.limits.limits == nil, let own = part.own {
        var names = own.intersection(all).reduce(into: Set<String>()) {
          $0.formUnion(pipeline.withParts($1))
        }
        // A setting of another request can add an input to a stage; that input is included.
        for stage in pipeline.stages.reversed() where names.contains(stage.name) {
          names.formUnion(stage.inputs.filter { !$0.isOptional }.map(\.stage))
        }
        chosen.formUnion(names)
      } else {
        chosen.formUnion(part.limits.stages(of: pipeline))
      }
    }
    // An optional input that is made for its readers alone belongs to the stages that read it.
    for stage in pipeline.stages.reversed() where chosen.contains(stage.name) {
      chosen.formUnion(
        stage.inputs.filter(\.isOptional).compactMap { pipeline[$0.stage] }.filter {
          !$0.keep && $0.kind.content($0.parameters).isForReaders
        }.map(\.name))
    }
    guard !without.isEmpty else { return chosen }
    // Inner steps go with their stage, except those that another one reads.
    let gone = without.reduce(into: Set<String>()) { $0.formUnion(pipeline.withParts($1)) }
    let read = chosen.subtracting(gone).reduce(into: Set<String>()) {
      $0.formUnion(pipeline.ancestors(of: $1))
    }
    return chosen.subtracting(gone.subtracting(read.subtracting(without)))
  }
}

/// The pipeline that several requests make together, before it is adapted to a capture.
struct RequestedPipeline {
  var pipeline: PipelineDefinition
  var choice: StageChoice
  /// Values in force that the texts of the pipelines do not have, without secrets.
  var settings: [ParameterSetting] = []
  /// What of the requests counts no more.
  var lost: [LostRequest] = []

  /// Whether two requests ask for the same: the same stages, in whatever order, with the same values, and of these the
  /// same ones.
  func asksForSame(as other: RequestedPipeline) -> Bool {
    func ordered(_ requested: RequestedPipeline) -> [StageDefinition] {
      requested.pipeline.stages.sorted { $0.name < $1.name }
    }
    return pipeline.shortfallPercent == other.pipeline.shortfallPercent
      && choice.stages(of: pipeline) == other.choice.stages(of: other.pipeline)
      && ordered(self).elementsEqual(ordered(other)) { mine, other in
        mine.name == other.name && mine.kind.name == other.kind.name
          && mine.parameters.json == other.parameters.json
          && mine.parameters.named == other.parameters.named && mine.inputs == other.inputs
          && mine.keep == other.keep && mine.partOf == other.partOf
      }
  }
}

/// Reads requests as one pipeline. Thousands of captures share a few requests: each is read once.
final class RequestReader: Sendable {
  private let registry: StageRegistry
  private let readings = Mutex<[PipelineSource: Reading]>([:])
  private let requested = Mutex<[Requests: RequestedPipeline?]>([:])

  init(_ registry: StageRegistry) { self.registry = registry }

  /// A request as this program reads it.
  private struct Reading {
    /// `nil`: its text cannot be read.
    var definition: PipelineDefinition?
    /// Its settings that are refused: of a parameter that there is no more, or a length without its unit.
    var settings: [ParameterSetting] = []
    var lost: [LostRequest] = []
  }

  /// - Parameter last: the definition of the latest source; `nil`: by its text.
  /// - Returns: `nil` where the latest source cannot be read any more. An earlier one that cannot is left out.
  func read(_ requests: Requests, last: PipelineDefinition? = nil) -> RequestedPipeline? {
    if last == nil, let known = requested.withLock({ $0[requests] }) { return known }
    let result = join(requests, last)
    if last == nil { requested.withLock { $0[requests] = .some(result) } }
    return result
  }

  private func join(_ requests: Requests, _ last: PipelineDefinition?) -> RequestedPipeline? {
    var result: RequestedPipeline?
    // Settings of stages that no request up to here has.
    var open: [ParameterSetting] = []
    var lost: [LostRequest] = []
    for (index, source) in requests.sources.enumerated() {
      let isLast = index == requests.sources.count - 1
      if !isLast || last == nil { lost += reading(source).lost }
      guard var own = isLast ? last ?? definition(source) : definition(source) else {
        if isLast { return nil }
        continue
      }
      let named = Dictionary(
        uniqueKeysWithValues: own.stages.map { ($0.name, $0.parameters.named) })
      if let later = requests.sources[(index + 1)...].last(where: { $0.name == source.name }) {
        own = forgettingValues(of: source, own, named: later)
      }
      let part = StageChoice.Part(
        own: source.limits == nil ? Set(named.keys) : nil, limits: source.limits ?? Selection())
      if let before = result {
        own = own.joined(to: before.pipeline)
        result?.choice.parts.append(part)
      } else {
        result = RequestedPipeline(pipeline: own, choice: StageChoice([part]))
      }
      open.removeAll { named[$0.stage]?.contains($0.parameter) == true }
      open += source.settingsOfOthers ?? []
      for setting in open where own[setting.stage] != nil {
        own =
          (try? own.setting(
            setting, of: texts(requests).first { $0[setting.stage] != nil },
            // Stages lack values of their file until the latest text of it is read.
            checksConnections: isLast)) ?? own
      }
      open.removeAll { own[$0.stage] != nil }
      result?.pipeline = own
    }
    result?.lost = lost.uniqued
    result?.choice.cleaned = Set(requests.cleaned.keys)
    result?.choice.without = Set(requests.cleaned.keys)
    if let whole = result?.pipeline { result?.settings = settings(in: whole, requests) }
    return result
  }

  /// The pipelines of requests without settings, the latest first.
  private func texts(_ requests: Requests) -> [PipelineDefinition] {
    requests.sources.reversed().compactMap { source in
      var bare = source
      bare.settings = []
      return definition(bare)
    }
  }

  private func settings(
    in whole: PipelineDefinition, _ requests: Requests
  ) -> [ParameterSetting] {
    let texts = texts(requests)
    var found: [ParameterSetting] = []
    for stage in whole.stages {
      guard let text = texts.lazy.compactMap({ $0[stage.name] }).first else { continue }
      for parameter in stage.kind.parameters
      where !parameter.isSecret && stage.parameters.named.contains(parameter.name)
        && stage.parameters[parameter.name] != text.parameters[parameter.name]
      {
        let name = whole.settingName(of: stage, parameter.name)
        let setting = ParameterSetting(
          stage: name.stage, parameter: name.parameter,
          value: stage.parameters[parameter.name]?.text ?? "default")
        if !found.contains(setting) { found.append(setting) }
      }
    }
    return found
  }

  private func definition(_ source: PipelineSource) -> PipelineDefinition? {
    reading(source).definition
  }

  /// What counts no more of requests, the latest included.
  func lost(_ requests: Requests) -> [LostRequest] {
    requests.sources.flatMap { reading($0).lost }.uniqued
  }

  func lostSettings(of source: PipelineSource) -> [ParameterSetting] { reading(source).settings }

  private func reading(_ source: PipelineSource) -> Reading {
    if let known = readings.withLock({ $0[source] }) { return known }
    let result = read(source)
    readings.withLock { $0[source] = result }
    return result
  }

  /// Settings that are refused are left out: what else a request asked for stays.
  private func read(_ source: PipelineSource) -> Reading {
    var result = Reading()
    var bare = source
    bare.settings = []
    do {
      let file = try bare.definition(registry)
      var pipeline = file
      for setting in source.settings {
        do throws(SettingError) {
          pipeline = try pipeline.setting(setting, of: file)
        } catch {
          result.settings.append(setting)
          result.lost.append(LostRequest(what: setting.text, why: error.description))
        }
      }
      result.definition = pipeline
    } catch {
      let why = (error as? PipelineError)?.diagnostics.first?.message ?? "\(error)"
      result.lost = [LostRequest(what: "the pipeline \(source.name)", why: why)]
    }
    return result
  }

  /// `own`, in which stages that a later text of the same file also has forget the values that the earlier text sets.
  private func forgettingValues(
    of source: PipelineSource, _ own: PipelineDefinition, named later: PipelineSource
  ) -> PipelineDefinition {
    var bare = source
    bare.settings = []
    guard let file = definition(bare), let later = definition(later) else { return own }
    var result = own
    for (index, stage) in own.stages.enumerated() where later[stage.name] != nil {
      guard let before = file[stage.name] else { continue }
      for name in before.parameters.named where before.parameters[name] == stage.parameters[name] {
        result.stages[index].parameters.forget(name)
      }
    }
    return result
  }
}

extension PipelineDefinition {
  /// This pipeline with what earlier requests asked for: their stages, the values that they named and this one does
  /// not, also of parameters that a stage of this one alone follows, and optional inputs that this one leaves open.
  func joined(to earlier: PipelineDefinition) -> PipelineDefinition {
    var stages = stages.map { stage in
      earlier[stage.name].map(stage.joined) ?? adding(stage, valuesOf: earlier)
    }
    stages += earlier.stages.filter { self[$0.name] == nil }.map { following($0, of: earlier) }
    guard let ordered = Self.ordered(stages) else { return self }
    var result = self
    result.stages = ordered
    return result
  }

  /// A stage that an earlier pipeline lacks, with the values that one named of parameters which it follows and for which
  /// none is named here.
  private func adding(
    _ stage: StageDefinition, valuesOf earlier: PipelineDefinition
  ) -> StageDefinition {
    var result = stage
    for parameter in stage.kind.parameters
    where !stage.parameters.named.contains(parameter.name) {
      guard let shared = parameter.sharedName,
        self[shared.stage]?.parameters.named.contains(shared.parameter) != true,
        let before = earlier[shared.stage]?.parameters, before.named.contains(shared.parameter)
      else { continue }
      result.parameters[parameter.name] = before[shared.parameter]
    }
    return result
  }

  /// A stage of an earlier pipeline with the values that this one names of parameters which it had followed there, named
  /// or not.
  private func following(
    _ stage: StageDefinition, of earlier: PipelineDefinition
  ) -> StageDefinition {
    var result = stage
    for parameter in stage.kind.parameters {
      guard let shared = parameter.sharedName, let now = self[shared.stage]?.parameters,
        now.named.contains(shared.parameter),
        let before = earlier[shared.stage]?.parameters,
        before[shared.parameter] == stage.parameters[parameter.name]
      else { continue }
      result.parameters[parameter.name] = now[shared.parameter]
    }
    return result
  }

  /// This pipeline with stages of another one, and what they need and this one lacks.
  func adding(_ names: [String], of other: PipelineDefinition) -> PipelineDefinition {
    let needed = names.reduce(into: Set(names)) { $0.formUnion(other.ancestors(of: $1)) }
    guard
      let ordered = Self.ordered(
        stages + other.stages.filter { needed.contains($0.name) && self[$0.name] == nil })
    else { return self }
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

extension PipelineDefinition {
  /// By which name the value of a parameter is set: that of the parameter which sets it for several stages, where both
  /// have the same, else its own.
  func settingName(
    of stage: StageDefinition, _ parameter: String
  ) -> (stage: String, parameter: String) {
    guard
      let shared = stage.kind.parameters.first(where: { $0.name == parameter })?.sharedName,
      let source = self[shared.stage],
      source.parameters[shared.parameter] == stage.parameters[parameter]
    else { return (stage.partOf ?? stage.name, parameter) }
    return (shared.stage, shared.parameter)
  }
}

extension StageDefinition {
  /// The value of a parameter in a record in the form in which it can be set.
  func text(of parameter: String, recorded value: JSONValue) -> String {
    kind.parameters.first { $0.name == parameter }?.text(ofRecorded: value) ?? value.plainText
  }

  /// This definition with what an earlier one of the same kind named: values of parameters for which this one names
  /// none, unless they contradict what it names, and optional inputs.
  fileprivate func joined(to earlier: StageDefinition) -> StageDefinition {
    guard earlier.kind.name == kind.name else { return self }
    var result = self
    for name in earlier.parameters.named.subtracting(parameters.named).sorted() {
      var more = result
      more.parameters[name] = earlier.parameters[name]
      if kind.problems(more).count <= kind.problems(result).count { result = more }
    }
    // What one request keeps is kept.
    if earlier.keep, !keep { (result.keep, result.partOf) = (true, earlier.partOf) }
    // A step of a stage stays one: its parameters are set by the name of the stage.
    if !result.keep, partOf == nil { result.partOf = earlier.partOf }
    result.inputs += earlier.inputs.filter { input in
      input.isOptional && !inputs.contains { $0.port == input.port }
    }
    return result
  }
}
