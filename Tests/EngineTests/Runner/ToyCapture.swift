@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage

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
