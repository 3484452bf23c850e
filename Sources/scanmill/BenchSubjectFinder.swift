import Benchmarking
import Captures
import Media
import Engine
import Stages
import Core
import SystemPackage

/// Finds the captures that `bench` measures.
struct BenchSubjectFinder {
  let pipeline: PipelineDefinition
  let measuresFloor: Bool
  private let finder = CaptureFinder(Toolbox.captures)

  /// The captures that the paths lead to and the selection leaves. Throws `CommandFailure` if there are
  /// none.
  ///
  /// - Parameter since: the value of `--since`.
  func subjects(
    _ paths: [String], _ selection: SelectionArguments, since: String?
  ) throws -> [BenchmarkSubject] {
    let findings = try paths.map(finding)
    if let declined = findings.first(where: { $0.captures.isEmpty }) {
      throw CommandFailure(ExitStatus.noCapture, declined.declined ?? "no capture")
    }
    return try chosen(findings, selection, since: since).map { try subject($0) }
  }

  /// The captures at a path. If the path does not exist, the only capture in the same folder whose
  /// ID begins with its last component.
  private func finding(_ text: String) throws -> CaptureFinder.Finding {
    let path = FilePath(text: text)
    let finding = finder.find(path)
    guard finding.captures.isEmpty, !FileSystem.exists(path), let start = path.name else {
      return finding
    }
    let around = path.removingLastComponent()
    let folder: FilePath = around.isEmpty ? "." : around
    let entries = ((try? FileSystem.names(in: folder)) ?? []).filter {
      IDPrefix.match(start, among: [$0]) != .none
    }
    var found: [String: Recognition] = [:]
    for entry in entries {
      for capture in finder.find(folder.appending(name: entry)).captures {
        found[capture.id] = capture
      }
    }
    guard let id = try OutputFinder.id(start, among: found.keys.sorted()) else { return finding }
    return CaptureFinder.Finding(path: path, captures: [found[id]].compactMap(\.self))
  }

  /// The captures that `--family`, `--exclude`, `--since` and `--id` leave.
  private func chosen(
    _ findings: [CaptureFinder.Finding], _ selection: SelectionArguments, since: String?
  ) throws -> [Recognition] {
    let all = findings.flatMap(\.captures)
    try selection.checkIDs(among: all.flatMap { [$0.id, OutputLayout.folderName(forID: $0.id)] })
    let choice = try selection.choice(since: since)
    let chosen = all.filter {
      choice.refusal(
        $0, outputName: OutputLayout.folderName(forID: $0.id), searched: findings.map(\.path))
        == nil
    }
    guard !chosen.isEmpty else {
      throw CommandFailure(
        ExitStatus.noCapture,
        "--family, --exclude, --since and --id leave none of the captures named (\(all.count))")
    }
    return chosen
  }

  private func subject(_ recognition: Recognition) throws -> BenchmarkSubject {
    let capture = try Toolbox.captures.open(recognition)
    let summary = CaptureSummary(
      capture, readerVersion: Toolbox.captures.readerVersion(of: recognition.family))
    var video: FilePath?
    if case .video(let file, _) = capture.color.value?.source { video = file }
    // If a family names files by a stem, a capture is specified by one of its files.
    let files = capture.files.values.joined().map(\.string).sorted()
    let path =
      recognition.stem == nil ? recognition.path : files.first.map { FilePath($0) }
    let pictures = max(
      capture.color.value?.description.frames ?? 0, capture.depth.value?.description.frames ?? 0)
    var subject = BenchmarkSubject(
      path: path ?? recognition.path, id: OutputLayout.folderName(forID: summary.id),
      family: summary.family.rawValue, frames: max(capture.frames.count, pictures),
      files: summary.files.values.joined().map { FilePath($0) }, video: video,
      stages: pipeline.stages.map { BenchmarkSubject.Stage(name: $0.name) })
    subject.ignoresEditList = Self.showsHidden(capture.color.value)
    if measuresFloor { addFloor(to: &subject, capture, summary) }
    return subject
  }

  /// Whether a reader counts pictures that the video's edit list hides, which peers must then show,
  /// too. Cost: the index of the video.
  private static func showsHidden(_ color: ColorStream?) -> Bool {
    guard let color, case .video(let file, let track) = color.source,
      let frames = color.description.frames,
      let index = try? VideoIndex.read(file, container: color.description.container)
    else { return false }
    return index.tracks.contains { $0.number == track && $0.pictureCount < frames }
  }

  // MARK: The floor

  /// Tells which stages of the pipeline have a floor, and notes those that cannot be measured for this capture.
  private func addFloor(
    to subject: inout BenchmarkSubject, _ capture: Capture, _ summary: CaptureSummary
  ) {
    for (index, stage) in pipeline.stages.enumerated() {
      guard let reading = reading(of: stage, summary) else { continue }
      switch stage.applicability(summary) {
      case .applies:
        subject.stages[index].reading = reading
        subject.stages[index].expectedBytes =
          stage.kind.expectedBytes(stage.parameters, OpenedCapture(capture, summary))?.least ?? 0
      case .notApplicable(let why): subject.floorNotes.append("\(stage.name): not possible, \(why)")
      case .nothingLeft(let warning):
        subject.floorNotes.append("\(stage.name): not possible, \(warning.message)")
      case .unreadable(let why): subject.floorNotes.append("\(stage.name): left out, \(why)")
      }
    }
  }

  /// The inputs that a stage must read; `nil` for a stage without a floor.
  private func reading(of stage: StageDefinition, _ summary: CaptureSummary) -> [FloorPart]? {
    switch stage.kind.name {
    case DecodeColor.name: summary.colorIsVideo ? [.decode, .convert] : [.decode]
    case ExportImages.name:
      stage.parameters[ExportImages.stream] == .confidence ? [.confidence] : [.depth]
    case AlignDepth.name: [.depth]
    default: nil
    }
  }
}
