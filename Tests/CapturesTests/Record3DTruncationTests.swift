import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Media

/// A recording in the making: unpacked, or as an archive of the same files.
final class Record3DScratch: ScratchCapture {
  static let (width, height) = (4, 6)

  /// An LZFSE stream of one raw block.
  static func stream(_ bytes: [UInt8]) -> [UInt8] {
    Array("bvx-".utf8) + ScratchZIP.number(bytes.count, 4) + bytes + Array("bvx$".utf8)
  }

  static func depth(_ meters: Float, _ count: Int = width * height) -> [UInt8] {
    [Float](repeating: meters, count: count).withUnsafeBytes { [UInt8]($0) }
  }

  static func jpeg(_ width: Int = 8, _ height: Int = 12) throws -> [UInt8] {
    var writer = try JPEGWriter(quality: 90)
    var file: [UInt8] = []
    let pixels = (0..<3 * width * height).map { UInt8(truncatingIfNeeded: 7 * $0) }
    try writer.encode(rgb: pixels, width: width, height: height, into: &file)
    return file
  }

  /// The metadata of `frames` frames, members replaced by `changes`; `nil` leaves one out.
  static func metadata(_ frames: Int = 4, _ changes: [String: String?] = [:]) -> String {
    let poses = (0..<frames).map { "[0, 0.6, 0, 0.8, \(Double($0) / 1000), 0.5, 0]" }
    let times = (0..<frames).map {
      $0 == 0 ? "0" : "0.\(String(1_000_000_000 + 16_666_667 * $0).dropFirst())"
    }
    let cameras = (0..<frames).map { "[\(7 + $0), 7.5, 3.5, 5.5]" }
    var members: [(String, String)] = [
      ("w", "8"), ("h", "12"), ("dw", "4"), ("dh", "6"), ("fps", "60"), ("cameraType", "1"),
      ("K", "[7, 0, 0, 0, 7.5, 0, 3.5, 5.5, 1]"),
      ("poses", "[\(poses.joined(separator: ", "))]"),
      ("frameTimestamps", "[\(times.joined(separator: ", "))]"),
      ("perFrameIntrinsicCoeffs", "[\(cameras.joined(separator: ", "))]"),
      ("initPose", "[0, 0, 0, 1, 0, 0, 0]"), ("unknown", "{\"a\": [null]}"),
    ]
    for (key, value) in changes {
      members.removeAll { $0.0 == key }
      if let value { members.append((key, value)) }
    }
    return "{" + members.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ") + "}"
  }

  /// The files of a whole recording of four frames.
  static func files() throws -> [(name: String, bytes: [UInt8])] {
    var files: [(name: String, bytes: [UInt8])] = [("metadata", Array(metadata().utf8))]
    for frame in 0..<4 {
      files.append(("rgbd/\(frame).jpg", try jpeg()))
      files.append(("rgbd/\(frame).depth", stream(depth(Float(1 + frame)))))
      files.append(("rgbd/\(frame).conf", stream([UInt8](repeating: 2, count: width * height))))
    }
    return files
  }

  /// Unpacked, in a folder.
  convenience init() throws {
    try self.init(named: "2024-03-17--18-25-12")
    for file in try Self.files() { try write(file.bytes, to: file.name) }
  }

  /// Packs the folder's files, in the order of `Record3DScratch.files`, then what was added.
  func archive(_ change: (inout ScratchZIP) -> Void = { _ in }) throws -> FilePath {
    var names = try Self.files().map(\.name)
    names += try folder.namesBelow().filter {
      !names.contains($0)
    }
    var zip = ScratchZIP(
      try names.compactMap { name in
        guard FileManager.default.fileExists(atPath: folder.string + "/" + name),
          !FileSystem.isFolder(folder.pushing(FilePath(name)))
        else { return nil }
        return ScratchZIP.Entry(name, try bytes(of: name), isDeflated: name.hasSuffix("conf"))
      })
    change(&zip)
    let path = outer.appending("2024-03-17--18-25-12.r3d")
    try Data(try zip.make().bytes).write(to: URL(filePath: path.string))
    return path
  }
}

/// A small file cut at every byte, in `make test` at every fifth: opening and decoding come to an end, and nothing that is told is
/// wrong.
@Suite("Record3D: files that are cut")
struct Record3DTruncationTests {
  @Test("Cut metadata is none")
  func metadata() throws {
    let scratch = try Record3DScratch()
    let bytes = try scratch.bytes(of: "metadata")
    for length in Rounds.every(5, of: Array(bytes.indices)) {
      try scratch.write(Array(bytes[..<length]), to: "metadata")
      let capture = try CaptureRegistry.builtIn.open(scratch.recognition(as: .record3D))
      #expect(capture.poses.value == nil)
      #expect(capture.intrinsics.value == nil)
      #expect(capture.frames.allSatisfy { $0.timestamp == nil })
      let code = length == 0 ? WarningCode.missingFile : .corruptRecord
      #expect(
        capture.warnings.contains { $0.code == code && $0.subject == "metadata" }, "\(length)")
    }
  }

  @Test("A cut picture is a hole", arguments: ["depth", "conf", "jpg"])
  func picture(ending: String) throws {
    let scratch = try Record3DScratch()
    let name = "rgbd/1.\(ending)"
    let bytes = try scratch.bytes(of: name)
    let subject = ["depth": "depth", "conf": "confidence", "jpg": "color"][ending] ?? ""
    let capture = try scratch.open()
    for length in Rounds.every(5, of: Array(bytes.indices)) {
      try scratch.write(Array(bytes[..<length]), to: name)
      let code = length == 0 ? "empty-record" : "corrupt-record"
      #expect(
        try capture.allCounts() == ["\(code) \(subject)": 1], "\(length)")
    }
  }

  @Test("A cut archive has the pictures before the cut, unchanged")
  func archive() throws {
    let scratch = try Record3DScratch()
    let path = try scratch.archive()
    let bytes = try scratch.bytes(of: "../\(path.lastComponent?.string ?? "")")
    let whole = try #require(try Capture.found(at: path).depth.value).pictures()
    #expect(whole.count == 4)
    var most = 0
    for length in stride(from: 0, to: bytes.count, by: Rounds.of(13, soak: 3)) {
      try scratch.write(Array(bytes[..<length]), to: "../cut.r3d")
      let cut = scratch.outer.appending("cut.r3d")
      guard let capture = try? Capture.found(at: cut) else { continue }
      let found = try capture.depth.value?.pictures() ?? [:]
      #expect(found.allSatisfy { whole[$0.key] == $0.value }, "\(length)")
      #expect(found.count >= most)
      most = max(most, found.count)
      let warnings = try capture.allCounts()
      #expect(warnings["truncated-stream record3d"] == 1, "\(length)")
      #expect(!warnings.keys.contains { $0.hasPrefix("corrupt-record") }, "\(length) \(warnings)")
      #expect(!capture.completeness.isWhole)
    }
    #expect(most == 4)
  }
}

@Suite("Record3D: recognition")
struct Record3DRecognitionTests {
  private static let metadata = "{\"w\": 8, \"poses\": [[0, 0, 0, 1, 0, 0, 0]], \"K\": [1]}"

  @Test("A folder that the export names is called by the folder around it")
  func exportFolder() throws {
    let scratch = try ScratchCapture(named: "2024-03-17--18-25-12")
    try scratch.write(Self.metadata, to: "EXR_RGBD/metadata.json")
    try scratch.write("", to: "EXR_RGBD/rgb/0.jpg")
    let folder = scratch.folder.appending("EXR_RGBD")
    let found = CaptureRegistry.builtIn.recognize(try FolderListing(of: folder))
    #expect(found.map(\.id) == ["2024-03-17--18-25-12"])
    let capture = try CaptureRegistry.builtIn.open(try #require(found.first))
    #expect(capture.recordedAt == "2024-03-17T18:25:12")
    #expect(capture.generation == "exr")
  }

  private func write(_ zip: ScratchZIP, _ name: String, _ scratch: ScratchCapture) throws {
    try scratch.write(try zip.make().bytes, to: name)
  }

  @Test(
    "Files that are one, whatever they are called",
    arguments: ["a.r3d", "a.zip", "a.R3D", "a.ZIP", "a", ".hidden", "a.bin"])
  func files(name: String) throws {
    for entries in [["metadata"], ["icon", "rgbd/7.jpg"], ["rgbd/12.depth"]] {
      for hasDirectory in [true, false] {
        let scratch = try ScratchCapture(named: "in")
        var zip = ScratchZIP(entries.map { ScratchZIP.Entry($0, [1, 2, 3]) })
        zip.hasDirectory = hasDirectory
        try write(zip, name, scratch)
        let found = CaptureFinder(.builtIn).find(scratch.folder.appending(name)).captures
        #expect(found.map(\.family) == [.record3D])
        #expect(found.first?.isFile == true)
        #expect(found.first?.id == (["a.bin", ".hidden"].contains(name) ? name : "a"))
      }
    }
  }

  @Test("No ending decides in a searched folder; only files called like recordings are told")
  func searched() throws {
    let scratch = try ScratchCapture(named: "in")
    let zip = ScratchZIP([ScratchZIP.Entry("metadata", Array(Self.metadata.utf8))])
    for name in ["room.bin", "Kitchen v1.2", "scan", "b.R3D", "c.dat"] {
      try write(zip, name, scratch)
    }
    let others = ScratchZIP([ScratchZIP.Entry("readme.txt", [1])])
    for name in ["other.zip", "backup", "x.docx"] { try write(others, name, scratch) }
    for name in ["README", "LICENSE", "notes.v2", "d.r3d", "Makefile"] {
      try scratch.write("text", to: name)
    }
    let found = CaptureFinder(.builtIn).find(scratch.folder)
    #expect(
      found.captures.compactMap { $0.path.lastComponent?.string }.sorted()
        == ["Kitchen v1.2", "b.R3D", "c.dat", "room.bin", "scan"])
    #expect(
      found.unrecognized.compactMap { $0.path.lastComponent?.string }.sorted()
        == ["d.r3d", "other.zip"])
    #expect(found.unreadable.isEmpty)
  }

  @Test("Files in a folder that is a capture are not opened for another one")
  func insideOfCapture() throws {
    let scratch = try ScratchCapture(named: "in")
    try scratch.write(Self.metadata, to: "metadata")
    try scratch.write("", to: "rgbd/0.jpg")
    let zip = ScratchZIP([ScratchZIP.Entry("metadata", Array(Self.metadata.utf8))])
    try write(zip, "icon", scratch)
    let found = CaptureRegistry.builtIn.recognize(try FolderListing(of: scratch.folder))
    #expect(found.map(\.id) == ["in"])
  }

  @Test("Other archives are none")
  func otherFiles() throws {
    let scratch = try ScratchCapture(named: "in")
    for (index, names) in [
      ["metadata.json"], ["rgbd/"], ["rgbd/a.jpg"], ["rgbd/1.conf"], ["x/metadata"],
      ["rgbd/x/1.jpg"], ["__MACOSX/rgbd/._1.jpg"], ["rgbd/._1.jpg"], ["../metadata"], [],
    ].enumerated() {
      try write(
        ScratchZIP(names.map { ScratchZIP.Entry($0, [1]) }), "\(index).r3d", scratch)
    }
    try scratch.write("no archive", to: "text.r3d")
    try scratch.write("PK\u{3}\u{4}", to: "short.r3d")
    try scratch.write("", to: "empty.r3d")
    #expect(CaptureFinder(.builtIn).find(scratch.folder).captures.isEmpty)
  }

  @Test(
    "A name tells when it was recorded",
    arguments: [
      ("2024-03-17--18-25-12", "2024-03-17T18:25:12"), ("2024-03-17-18-25-12", nil),
      ("2024_03_17__18_25_12", nil), ("2024-13-17--18-25-12", nil), ("kitchen", nil),
      ("2024-03--17-18-25-12", nil), ("2024-03-17--18-25-12 (1)", nil), ("--", nil),
    ] as [(String, String?)])
  func dates(name: String, expected: String?) throws {
    let scratch = try ScratchCapture(named: name)
    try scratch.write(Self.metadata, to: "metadata")
    try scratch.write("", to: "rgbd/0.jpg")
    let found = CaptureRegistry.builtIn.recognize(try FolderListing(of: scratch.folder))
    #expect(
      try CaptureRegistry.builtIn.open(try #require(found.first)).recordedAt == expected)
  }
}
