import SystemPackage

@testable import Captures
@testable import Core
@testable import Engine

/// The parameters of toy stages.
enum Toy {
  static let suffix = Parameter("suffix", .text, default: "", "Comes at the end.")
  static let letters = Parameter(
    "letters", .integer(0...99), "So many letters of the input are read.")
  static let factor = Parameter(
    "factor", .number(0...9), default: 1, "A whole number with a point.")
  static let table = Parameter("table", .file, "Another file to read.")
  static let every = Parameter("every", .integer(1...9), default: 1, "Changes nothing.").added()
}

/// A stage that puts what it reads and its parameters into one small file.
protocol ToyStage: Stage {
  /// The part of the capture that it is about; read when it has no `frames` input.
  static var part: CapturePart? { get }
}

extension ToyStage {
  static var version: Int { 1 }
  static var sentence: String { "A toy." }
  static var ports: [Port] { [] }

  static var parameters: [ParameterDescription] {
    ParameterDescription.list(Toy.suffix, Toy.letters, Toy.factor, Toy.table, Toy.every)
  }

  static var reads: Set<CapturePart> { [] }

  static func alsoReads(
    _ parameters: ParameterValues, connected ports: Set<String>
  ) -> Set<CapturePart> {
    part.map { ports.isEmpty ? [$0] : [] } ?? []
  }

  static func externalFiles(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> [String: FilePath] {
    parameters[Toy.table].map { [Toy.table.name: $0] } ?? [:]
  }

  static func applicability(
    _ parameters: ParameterValues, _ capture: CaptureSummary
  ) -> Applicability {
    part.map { Applicability(capture.state(of: $0)) } ?? .applies
  }

  static func run(_ context: StageContext) throws -> StageResult {
    let probe = Probe.of(context.capture.folder)
    try probe.enter(context)
    var text = ""
    if context.inputs.isEmpty, let part {
      for file in context.capture.files[part] ?? [] { text += Text.read(file) ?? "?" }
    }
    for (port, input) in context.inputs.sorted(by: { $0.key < $1.key }) {
      text += "[\(port) \(Text.read(input.folder.appending("out.txt")) ?? "?")]"
    }
    if let letters = context.parameters[Toy.letters] { text = String(text.prefix(letters)) }
    for (_, file) in context.externalFiles { text += Text.read(file) ?? "?" }
    text += context.parameters[Toy.suffix]
    try context.staging.write(Array(text.utf8), as: "out.txt")
    try context.staging.write([], as: "more/empty.bin")
    try probe.leave(context)
    var result = StageResult(
      frames: text.count, recorded: ["length": .integer(Int64(text.count))])
    result.problems = probe.problems(of: context.stage)
    result.copied = probe.copied(by: context.stage)
    return result
  }
}

enum ToyColor: ToyStage {
  static let name = "toy-color"
  static let part: CapturePart? = .color
  static let content = ArtifactContent.colorImages
}

enum ToyFrames: ToyStage {
  static let name = "toy-frames"
  static let part: CapturePart? = .depth
  static let content = ArtifactContent.depthFrames
}

enum ToyDepth: ToyStage {
  static let name = "toy-depth"
  static let part: CapturePart? = .depth
  static let content = ArtifactContent.depthImages
  static let ports = [Port("frames", .depthFrames, isRequired: true, "frames")]

  static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? {
    capture.depth.map { ExpectedBytes(least: Int64($0.count) * 100, usual: Int64($0.count) * 1000) }
  }
}

enum ToyAligned: ToyStage {
  static let name = "toy-aligned"
  static let parameters = ParameterDescription.list(
    Toy.suffix, Toy.letters, Toy.factor, Toy.table, Toy.every.following("color", "."))
  static let part: CapturePart? = .depth
  static let content = ArtifactContent.alignedImages
  static let ports = [Port("frames", .depthFrames, isRequired: true, "frames")]
}

enum ToyTables: ToyStage {
  static let name = "toy-tables"
  static let part: CapturePart? = nil
  static let content = ArtifactContent.tables
  static let ports = [
    Port("color", .colorImages, isRequired: false, "pictures"),
    Port("depth", .depthImages, isRequired: false, "pictures"),
    Port("aligned", .alignedImages, isRequired: false, "pictures"),
  ]

  static func nothingLeft(
    _ stage: StageDefinition, _ capture: CaptureSummary
  ) -> CaptureWarning? {
    stage.parameters[Toy.letters] == 0
      ? CaptureWarning(.nothingLeft, stage.name, "no letter is left") : nil
  }
}

/// Frames made of frames: intermediates behind intermediates.
enum ToyRefine: ToyStage {
  static let name = "toy-refine"
  static let part: CapturePart? = .depth
  static let content = ArtifactContent.depthFrames
  static let ports = [Port("frames", .depthFrames, isRequired: true, "frames")]
}

/// Frames that may be made of pictures.
enum ToyMixed: ToyStage {
  static let name = "toy-mixed"
  static let part: CapturePart? = .depth
  static let content = ArtifactContent.depthFrames
  static let ports = [Port("color", .colorImages, isRequired: false, "pictures")]
}

/// Is shown the capture's folder.
enum ToyFolder: ToyStage {
  static let name = "toy-folder"
  static let part: CapturePart? = nil
  static let content = ArtifactContent.files
  static func readsFolder(_ parameters: ParameterValues) -> Bool { true }
  static let reads = Set(CapturePart.allCases)
}

extension StageRegistry {
  static let toys = StageRegistry([
    ToyFolder.self, ToyColor.self, ToyFrames.self, ToyDepth.self, ToyAligned.self, ToyTables.self,
    ToyRefine.self, ToyMixed.self,
  ])
}

/// A family for tests: `toy.txt` (its text: the id, or `unopenable`), `color.bin`, `depth.bin`.
///
/// A missing file is a missing stream; a depth file that begins with `!` cannot be read.
enum ToyReader: CaptureReader {
  static let description = FamilyDescription(
    .scannet, title: "Toys", generations: [.init("t1")], recognition: "a folder of toys")
  static let readerVersion = 1

  static func recognize(_ listing: FolderListing) -> [Recognition] {
    guard listing.contains("toy.txt") else { return [] }
    let id = String(decoding: listing.head(of: "toy.txt"), as: UTF8.self)
    return [
      Recognition(
        family: family, certainty: .certain, folder: listing.folder,
        id: id.isEmpty ? listing.folder.lastComponent?.string ?? "" : id, reason: "toy.txt")
    ]
  }

  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let folder = recognition.folder
    Probe.of(folder).open()
    guard recognition.id != "unopenable" else {
      throw CaptureError(file: folder.appending("toy.txt"), byteOffset: 0, problem: "no toy")
    }
    var capture = Capture(
      id: recognition.id, family: family, generation: "toy", folder: folder,
      clock: CaptureClock(.uptime, unit: "ns"))
    let (color, depth) = (folder.appending("color.bin"), folder.appending("depth.bin"))
    if FileSystem.exists(color) {
      capture.color = .present(
        ColorStream(
          source: .stills([color]),
          description: StreamDescription(file: "color.bin", encoding: "toy")))
      capture.files[.color] = [color]
    }
    if let text = Text.read(depth) {
      capture.files[.depth] = [depth]
      capture.depth =
        text.hasPrefix("!")
        ? .unreadable(CaptureError(file: depth, record: 0, byteOffset: 0, problem: "begins with !"))
        : .present(
          DepthStream(
            description: StreamDescription(file: "depth.bin", encoding: "toy"), width: 1, height: 1,
            access: .indexed(NoFrames())))
    }
    return capture
  }

  private struct NoFrames: IndexedFrameSource {
    var recordCount: Int { 0 }

    func decode(record: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
      .hole(.emptyRecord, "a toy has no frames")
    }
  }
}
