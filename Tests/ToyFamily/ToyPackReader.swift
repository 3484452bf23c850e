import Captures
import Core
import SystemPackage

extension CaptureFamily {
  public static let toyPack = CaptureFamily("toypack")
}

/// A family that only tests know, whose captures are one file each: `NAME.pack`.
///
/// `TOYPACK\n`, a line `WIDTH HEIGHT FRAMES`, the frames as 16-bit millimeters, and `END\n` when all of it has
/// been written. The same file in a folder `packs` of a folder is a capture that is a folder; in `RAW` it is
/// called after the folder above.
public enum ToyPackReader: CaptureReader {
  public static let readerVersion = 1
  public static let description = FamilyDescription(
    .toyPack, title: "Toy pack", generations: [.init("file"), .init("folder")],
    recognition: "one file that begins with TOYPACK")

  public static let ending = ".pack"
  static let packsFolder = "packs"
  static let packName = "all.pack"

  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    guard listing.names(in: packsFolder).contains(packName) else { return [] }
    let name = listing.folder.name ?? ""
    let parent = listing.folder.removingLastComponent().name ?? ""
    return [
      Recognition(
        family: family, certainty: .certain, folder: listing.folder,
        id: name == "RAW" ? parent : name, reason: "holds \(packsFolder)/\(packName)")
    ]
  }

  public static func mayBeCapture(fileName: String) -> Bool {
    fileName.hasSuffix(ending) || fileName.hasSuffix(".bin")
  }

  public static func recognize(file: InputFile) throws(FileError) -> Recognition? {
    guard let name = file.path.name, try file.head(ToyPack.magic.count) == ToyPack.magic else {
      return nil
    }
    return Recognition(
      family: family, certainty: .certain, file: file.path,
      id: name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : name,
      reason: "begins with TOYPACK")
  }

  public static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let path =
      recognition.isFile
      ? recognition.path : recognition.folder.appending(packsFolder).appending(packName)
    let clock = CaptureClock(.nominal, unit: "ns")
    var capture =
      recognition.isFile
      ? Capture(
        id: recognition.id, family: family, generation: "file", file: recognition.path, clock: clock
      )
      : Capture(
        id: recognition.id, family: family, generation: "folder", folder: recognition.folder,
        clock: clock)
    do throws(FileError) {
      let pack = try ToyPack(path)
      capture.frames = (0..<pack.recordCount).map {
        CaptureFrame(timestamp: Timestamp(nanoseconds: Int64($0) * 100_000_000))
      }
      capture.depth = .present(
        DepthStream(
          description: StreamDescription(
            file: path.name ?? "", encoding: "u16", width: pack.width, height: pack.height,
            frames: pack.recordCount), width: pack.width, height: pack.height,
          access: .indexed(pack)))
      capture.files = [.depth: [path], .frames: [path]]
      let missing = pack.isWhole ? [] : ["the end of the file"]
      capture.completeness = UploadCompleteness(
        missing: missing, absentFiles: pack.isWhole ? [] : [path.name ?? ""])
    } catch {
      throw CaptureError(file: path, problem: error.reason, remedy: error.remedy)
    }
    return capture
  }
}

/// The content of a pack, mapped.
struct ToyPack: IndexedFrameSource {
  static let magic = Array("TOYPACK\n".utf8)

  let width: Int
  let height: Int
  let recordCount: Int
  let isWhole: Bool
  private let file: MappedFile
  private let start: Int

  init(_ path: FilePath) throws(FileError) {
    file = try MappedFile(path)
    let head = file.withBytes(in: 0..<64) { span in span.withUnsafeBytes { Array($0) } }
    let line = head.dropFirst(Self.magic.count).prefix { $0 != 0x0A }
    let numbers = String(decoding: line, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    guard head.starts(with: Self.magic), numbers.count == 3,
      numbers.allSatisfy({ (1...10_000).contains($0) })
    else {
      throw FileError(kind: .other, path: path, operation: "read", reason: "no head of a toy pack")
    }
    (width, height) = (numbers[0], numbers[1])
    start = Self.magic.count + line.count + 1
    let bytes = 2 * width * height
    recordCount = min(numbers[2], max(0, file.count - start) / bytes)
    let end = Array("END\n".utf8)
    let last = file.withBytes(in: max(0, file.count - end.count)..<file.count) { span in
      span.withUnsafeBytes { Array($0) }
    }
    isWhole = file.count == start + numbers[2] * bytes + end.count && last == end
  }

  func decode(record: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
    let bytes = 2 * width * height
    let first = start + record * bytes
    pixels = file.withBytes(in: first..<first + bytes) { span in
      span.withUnsafeBytes { raw in
        stride(from: 0, to: bytes, by: 2).map { UInt16(raw[$0]) | UInt16(raw[$0 + 1]) << 8 }
      }
    }
    return .picture
  }
}
