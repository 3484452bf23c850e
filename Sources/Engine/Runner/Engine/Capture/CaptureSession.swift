import Captures
import FoundationEssentials
import Core
import SystemPackage

/// One capture opened for a run: the lock on its output, the description, what is published so far.
struct CaptureSession {
  let capture: Capture
  let recognition: Recognition
  let layout: OutputLayout
  let collector: FactsCollector
  let digests: DigestCache
  /// The input files as they were when the capture was opened.
  let identities: [String: FileStamp]
  /// Listing of the files for later runs; `nil` for a capture with too many files, or that could not be read as a
  /// whole.
  let inputs: InputListing?

  /// Opens a capture for `layout`. Reads; writes nothing.
  init(
    _ recognition: Recognition, registry: CaptureRegistry, layout: OutputLayout, verify: Bool,
    scratch: CaptureOutput? = nil, clock: RunClock = .system
  ) throws(CaptureError) {
    let mark = DeviceErrors.mark
    // Identities first: a change while opening is then seen as a change too.
    var inputs = InputListing(recognition, nowNanoseconds: clock.fileNanoseconds())
    var identities = try Self.identities(of: recognition)
    capture = try registry.open(recognition)
    // Files that lie deeper or under another spelling of the path count from now on.
    var stamps = FileStamps()
    for file in capture.files.values.joined() where identities[file.text] == nil {
      identities[file.text] = stamps.stamp(of: file.text)
    }
    inputs?.add(capture.files.values.joined())
    // What could not be read this time is not to be remembered for files that stay as they are.
    self.inputs = capture.isToBeOpenedAgain ? nil : inputs
    self.recognition = recognition
    self.identities = identities
    self.layout = layout
    digests = DigestCache(layout.digestCache, capture: recognition.path)
    let summary = CaptureSummary(
      capture, readerVersion: registry.readerVersion(of: recognition.family))
    var collector = FactsCollector(
      summary: summary, folder: recognition.path, store: ArtifactStore(layout, scratch: scratch),
      digests: digests, verify: verify)
    collector.opened = (recognition, mark)
    self.collector = collector
  }

  /// Writes `capture.json`, with the damage and the payload kinds that published artifacts of this
  /// capture have met, the verdict on its quality and which pictures were picked, unless it says the same already.
  func writeDocument(for pipeline: PipelineDefinition, in output: CaptureOutput) throws {
    var found: [CaptureWarning] = []
    var encodings: [String: String] = [:]
    var measured: [String: any Encodable & Sendable] = [:]
    var records: [ArtifactRecord] = []
    // Steps that an export of some frames has for itself are none of the pipeline as it was given.
    let adapted = pipeline.adapted(
      to: collector.summary, Selection(), known: collector.store.known
    )
    let steps = adapted.stages.filter(\.isOfSubset)
    for stage in pipeline.stages + steps {
      guard
        let record = collector.store.record(stage.name) ?? collector.store.empty(stage.name)
      else { continue }
      if stage.kind.content(stage.parameters) == .timeOffset {
        // An earlier run asked for the record: this one does not look whether it still holds.
        guard adapted[stage.name] != nil else { continue }
        measured["timeOffset"] = JSONValue.object(record.recorded)
      }
      if measured["picked"] == nil, let picked = record.pickedPictures {
        measured["picked"] = picked
      }
      found = found.merged(with: record.warnings)
      encodings.merge(record.streamEncodings) { first, _ in first }
      records.append(record)
    }
    // A verdict that an earlier run asked for counts as long as it is published, as everywhere.
    for request in EarlierRequests(of: layout).requests {
      records += request.stages.compactMap(collector.store.record)
    }
    if let quality = records.quality { measured["quality"] = quality }
    let bytes = PathText.shown(
      try JSONText.pretty(
        CaptureDocument(
          capture, opening: pipeline.unsettled(capture.warnings), found: found,
          encodings: encodings, measured: measured)))
    try output.checkDocument()
    let name = OutputNames.document
    if try output.folder.contents(of: name) == bytes { return }
    try output.folder.replace(name, with: bytes)
  }

  /// The stages that a run is about, steps of exports of some frames among them.
  func selected(of pipeline: PipelineDefinition, _ selection: Selection) -> Set<String> {
    selection.stages(
      of: pipeline.adapted(to: collector.summary, selection, known: collector.store.known))
  }

  /// The input files as they are, by path; without what links lead to outside of the folder.
  private static func identities(
    of recognition: Recognition
  ) throws(CaptureError) -> [String: FileStamp] {
    let folder = recognition.folder
    if recognition.isFile {
      let path = recognition.path.text
      return FileStamp(of: path).map { [path: $0] } ?? [:]
    }
    var all: [String: FileStamp] = [:]
    func add(_ prefix: String, _ open: HeldFolder, _ root: EnclosedFolder) throws(FileError) {
      for (name, kind) in try open.list() {
        let path = folder.pushing(FilePath(text: prefix + name)).text
        if kind == .file, let stamp = try open.lookable(name)?.fileStamp {
          all[path] = stamp
          continue
        }
        switch root.look(at: prefix + name) {
        case .file(let stamp): all[path] = stamp
        case .folder where prefix.isEmpty:
          if let inner = try? root.folder(name) { try add(name + "/", inner, root) }
        case .failed(let error): throw error
        case .folder, .other, .outside, .forbidden, .nothing: continue
        }
      }
    }
    do throws(FileError) {
      let root = try EnclosedFolder(folder)
      try add("", root.folder(), root)
    } catch {
      // What may not be seen, or is gone, is told by opening it.
      if error.isOfMachine { throw CaptureError(error, of: error.path) }
    }
    return all
  }
}
