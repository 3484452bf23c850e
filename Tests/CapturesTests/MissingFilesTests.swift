@testable import Captures
import FoundationEssentials
@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

@Suite("Files that a complete upload would have")
struct MissingFilesTests {
  /// Files of a family's capture by their endings, and how `missing` calls them; `nil`: no part of a
  /// complete upload. `NAME` stands for the file's own name.
  typealias Row = (family: String, generation: String?, files: [(file: String, name: String?)])

  private static let rows: [Row] = [
    ("scannet", nil, [".txt", ".h264", ".imu", ".camera"].map { ($0, $0) }),
    (
      "arkit-scanner", "g6",
      ["rgb.mp4", "depth.bin", "trans.json", "metadata.json"].map { ($0, $0) }
        + [("imu.json", nil), ("exif.json", nil)]
    ),
    ("arkit-scanner", "g1", [("video.mp4", "video.mp4")]),
    ("arkit-scanner", "scannetpp", [("depth.bin", "depth.bin")]),
    (
      "multiscan", "ios-lidar",
      [".json", ".jsonl", ".mp4", ".depth.zlib", ".confidence.zlib"].map { ($0, $0) }
    ),
    ("multiscan", "ios-dual", [("-secondary.mp4", "-secondary.mp4"), (".rot", ".rot")]),
    ("multiscan", "android-plain", [(".rot", ".rot"), (".atti", nil)]),
    ("vi-slam", nil, ["video.mp4", "imu_data.csv", "frame_metadata.csv"].map { ($0, $0) }),
    ("strabo", nil, [(".mov", "NAME"), (".png", nil)]),
  ]

  private let output: TemporaryFolder

  init() throws { output = try TemporaryFolder() }

  private func capture(_ family: String, _ generation: String?) throws -> SyntheticCapture {
    var options = SynthesisOptions(output: output.path)
    options.frames = 2
    (options.width, options.height) = (324, 242)
    options.generation = generation
    options.truthPictures = 0
    return try SyntheticFamilies.write(family, options)
  }

  private func missing(in folder: FilePath) throws -> [String] {
    let registry = CaptureRegistry([
      ScanNetReader.self, ARKitScannerReader.self, MultiScanReader.self, VISLAMReader.self,
      StraboReader.self,
    ])
    let found = registry.recognize(try FolderListing(of: folder))
    let capture = try registry.open(try #require(found.first))
    #expect(capture.completeness.isWhole || !capture.completeness.missing.isEmpty)
    return capture.completeness.absentFiles
  }

  @Test("Each missing file is named, by its ending where files share a stem", arguments: rows)
  func named(_ row: Row) throws {
    let capture = try capture(row.family, row.generation)
    #expect(try missing(in: capture.folder).isEmpty)
    for (ending, expected) in row.files {
      let names = try FileSystem.names(in: capture.folder)
      let file = try #require(names.first { $0.hasSuffix(ending) }, "\(ending) of \(names)")
      let aside = output.path.appending("aside")
      try FileSystem.rename(capture.folder.appending(file), to: aside)
      let name = expected == "NAME" ? file : expected
      #expect(try missing(in: capture.folder) == [name].compactMap(\.self), "\(file)")
      try FileSystem.rename(aside, to: capture.folder.appending(file))
    }
  }

  @Test("Names are in the order of the family's rule")
  func order() throws {
    let capture = try capture("scannet", nil)
    for ending in [".camera", ".imu", ".h264"] {
      let names = try FileSystem.names(in: capture.folder)
      let file = try #require(names.first { $0.hasSuffix(ending) })
      try FileSystem.remove(capture.folder.appending(file))
    }
    #expect(try missing(in: capture.folder) == [".h264", ".imu", ".camera"])
  }
}
