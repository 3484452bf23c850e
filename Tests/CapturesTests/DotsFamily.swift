import Media
import Core
import SystemPackage

@testable import Captures

// The example of docs/adding-a-family.md, block by block: the guide's test compares them.

extension CaptureFamily {
  static let dots = CaptureFamily("dots")
}

enum DotsReader: CaptureReader {
  static let readerVersion = 1
  static let description = FamilyDescription(
    .dots, title: "Dots", generations: [.init("v1")],
    recognition: "a folder with a dots_<digits>.json that has the key dotsPose")

  static func recognize(_ listing: FolderListing) -> [Recognition] {
    // A few files are opened, whatever the folder holds: the first may be damaged.
    let names = listing.files(withPrefix: "dots_").lazy.filter { $0.hasSuffix(".json") }
    let isOne = names.prefix(8).contains { name in
      LooseJSON(listing.head(of: name))?.contains("dotsPose") ?? false
    }
    return isOne
      ? recognition(of: listing, (.certain, "a dots_<digits>.json has the key dotsPose")) : []
  }

  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let tables = DotsTables(try DotsFiles(recognition.folder))
    return DotsCapture(tables: tables, frames: DotsFrames(tables)).capture(id: recognition.id)
  }
}

struct DotsFiles {
  let folder: FilePath
  let rows: NumberedFiles
  let depth: NumberedFiles

  init(_ folder: FilePath) throws(CaptureError) {
    self.folder = folder
    do throws(FileError) {
      let names = try FolderListing(of: folder).files
      let rows = NumberedFiles(names, prefix: "dots_", endings: ["json"], leastDigits: 5)
      let depth = NumberedFiles(names, prefix: "dots_", endings: ["png"], leastDigits: 5)
      let most = NumberedFiles.mostBelieved(records: rows.files.count + depth.files.count)
      (self.rows, self.depth) = (rows.believing(upTo: most), depth.believing(upTo: most))
    } catch {
      throw CaptureError(reasonOf: error, at: folder)
    }
  }

  var rowPaths: [FilePath] { rows.files.map { folder.appending(name: $0.name) } }
}

struct DotsTables {
  struct Row: Sendable {
    var time: Timestamp?
    var pose: Pose?
  }

  let files: DotsFiles
  let depth: PictureFiles<UInt16>
  let rows: FrameFiles<Row>

  init(_ files: DotsFiles) {
    self.files = files
    depth = .depth(files.depth, in: files.folder)
    rows = FrameFiles(files.rows, in: files.folder) { members in
      Row(
        time: members.number("time").flatMap { Timestamp(decimalSeconds: $0) },
        pose: members.numbers("dotsPose").flatMap(Pose.init(arkitColumnMajor:)))
    }
  }
}

struct DotsFrames {
  let frames: [CaptureFrame]

  init(_ tables: DotsTables) {
    let rowCount = (tables.files.rows.files.last?.number ?? -1) + 1
    frames = (0..<max(rowCount, tables.depth.numberCount)).map { index in
      let time = tables.rows[index]?.time
      return CaptureFrame(
        timestamp: time, depthTimestamp: tables.depth.hasFile(index) ? time : nil)
    }
  }
}

struct DotsCapture {
  let tables: DotsTables
  let frames: DotsFrames

  func capture(id: String) -> Capture {
    let (files, warnings) = (tables.files, WarningCollector())
    var capture = Capture(
      id: id, family: .dots, generation: "v1", folder: files.folder,
      clock: CaptureClock(.uptime, unit: "s"))
    capture.frames = frames.frames
    if !files.depth.isEmpty {
      capture.depth = .present(
        DepthStream(tables.depth, folder: "dots_*.png", of: frames.frames))
    }
    capture.framesProblem = tables.rows.problem
    let rows = tables.rows.sorted.compactMap { frame, row in
      row.pose.map { PoseStream.Row(frame: frame, pose: $0) }
    }
    capture.poses = .present(
      PoseStream(
        description: StreamDescription(file: "dots_*.json", encoding: "json", frames: rows.count),
        rows: rows))
    warnings.add(.emptyRecord, "poses", count: tables.rows.empty, "files of 0 bytes")
    warnings.add(.corruptRecord, "poses", count: tables.rows.corrupt, "files that are no object")
    capture.warnings = warnings.warnings
    capture.files = [
      .depth: tables.depth.paths, .frames: files.rowPaths, .poses: files.rowPaths,
    ]
    let lost = frames.frames.indices.count { !tables.depth.hasFile($0) }
    if lost > 0 {
      capture.completeness = UploadCompleteness(missing: ["\(lost) dots_*.png."], absentFiles: [])
    }
    return capture
  }
}
