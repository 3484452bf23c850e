import Benchmarking
import Captures
import Output
import Pipeline
import Processes
import Runner
import Stages
import Storage
import SystemPackage

extension BenchSubject {
  /// The stages of the pipeline that have a floor, and why others of their kind have none here.
  func floor(_ pipeline: PipelineDefinition) -> FloorSubject {
    var subject = FloorSubject(path: path.string, frames: frames, stages: [])
    for stage in pipeline.stages {
      guard let reading = reading(of: stage) else { continue }
      switch stage.kind.applicability(stage.parameters, summary) {
      case .applies:
        subject.stages.append(
          FloorSubject.Stage(
            name: stage.name, reading: reading, expectedBytes: expectedBytes[stage.name] ?? 0))
      case .notApplicable(let why): subject.notes.append("\(stage.name): not applicable, \(why)")
      case .unreadable(let why): subject.notes.append("\(stage.name): left out, \(why)")
      }
    }
    return subject
  }

  /// What a stage must read; `nil` for a stage without a floor.
  private func reading(of stage: StageDefinition) -> [FloorPart]? {
    switch stage.kind.name {
    case DecodeColor.name: summary.colorIsVideo == true ? [.decode, .convert] : [.decode]
    case ExportImages.name:
      stage.parameters.text("stream") == "confidence" ? [.confidence] : [.depth]
    case AlignDepth.name: [.depth]
    default: nil
    }
  }
}

extension BenchCommand {
  /// Every capture against its floor, before anything else is measured: what other runs write is deleted after
  /// each, which would make the creation of files after it expensive.
  ///
  /// - Returns: by capture; `nil` when no floor was asked for.
  func floors(
    _ subjects: [BenchSubject], _ definition: PipelineDefinition, _ plan: FloorPlan
  ) throws -> [FloorSession.Measured?] {
    guard floor else { return subjects.map { _ in nil } }
    return try subjects.enumerated().map { index, subject in
      let session = FloorSession(
        program: plan.program, folder: plan.folder.appending("floor-\(index)"),
        settings: plan.settings, jobs: floorJobs, runner: plan.runner, willRun: plan.willRun)
      return try session.measure(subject.floor(definition), usedJobs: used(floorJobs))
    }
  }

  /// What all captures' floors are measured with.
  struct FloorPlan {
    var program: FilePath
    var folder: FilePath
    var settings: BenchmarkReport.Settings
    var runner: ProgramRunner
    var willRun: @Sendable (String) throws -> Void
  }

  /// Of several numbers the largest, where 0 is all cores.
  var floorJobs: Int {
    let numbers = jobNumbers ?? [0]
    return numbers.max { used($0) < used($1) } ?? 0
  }

  /// A benchmark that was to measure floors and has none.
  func checkFloors(_ report: BenchmarkReport) throws {
    guard floor, report.captures.allSatisfy({ $0.floor?.stages.isEmpty ?? true }) else { return }
    let why = report.captures.first?.floor?.notes.joined(separator: "; ") ?? "no capture"
    throw Failure(code: ExitStatus.jobFailed, text: "no stage has a floor here: \(why)")
  }
}
