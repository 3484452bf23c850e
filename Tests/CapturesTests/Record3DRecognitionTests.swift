@testable import Captures
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

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
