@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Recognizing ARKit-Scanner captures")
struct ARKitScannerRecognitionTests {
  private func recognize(_ folder: ARKitScannerFolder) throws -> [Recognition] {
    ARKitScannerReader.recognize(try FolderListing(of: folder.path))
  }

  @Test(
    "One of the app's own names is enough",
    arguments: [
      "trans.json", "pose_intrinsic_imu.json", "depth.bin", "depthBufferSequence",
      "depthBufferSequence.bin",
    ])
  func names(name: String) throws {
    let folder = try ARKitScannerFolder(named: "_2022_a: \"b\" 's 12-31")
    try folder.write("{}", to: name)
    let found = try recognize(folder)
    #expect(found.map(\.id) == ["_2022_a: \"b\" 's 12-31"])
    #expect(found.first?.certainty == (name == "depth.bin" ? .possible : .certain))
    #expect(found.first?.reason.contains(name) ?? false)
  }

  @Test(
    "Names that others use as well say nothing",
    arguments: [
      "rgb.mp4", "video.mp4", "metadata.json", "exif.json", "imu.json", "intri.json", "a.bin",
      "x.depth", "depth.png", "1_trans.xml",
    ])
  func otherNames(name: String) throws {
    let folder = try ARKitScannerFolder()
    try folder.write("{}", to: name)
    #expect(try recognize(folder).isEmpty)
  }

  @Test("A file named depth must hold depth")
  func depthByContent() throws {
    let folder = try ARKitScannerFolder()
    try folder.write("depth: 12 m\n", to: "depth")
    #expect(try recognize(folder).isEmpty)
    try folder.write([], to: "depth")
    #expect(try recognize(folder).isEmpty)
    let record = ARKitScannerDepth.lz4(ARKitScannerDepth.picture(0))
    try folder.write(ARKitScannerDepth.framed(record), to: "depth")
    #expect(try recognize(folder).count == 1)
    #expect(try folder.open().generation == "g2b")
  }

  @Test("Neither an empty folder nor one whose subfolder is a capture is one")
  func nested() throws {
    let folder = try ARKitScannerFolder()
    #expect(try recognize(folder).isEmpty)
    let inner = folder.path.appending("scan")
    try FileManager.default.createDirectory(
      atPath: inner.string, withIntermediateDirectories: false)
    try Data("{}".utf8).write(to: URL(filePath: inner.appending("trans.json").string))
    try FileManager.default.createDirectory(
      atPath: folder.path.appending("depth.bin").string, withIntermediateDirectories: false)
    #expect(try recognize(folder).isEmpty)
    #expect(ARKitScannerReader.recognize(try FolderListing(of: inner)).map(\.id) == ["scan"])
  }

  @Test("A released folder is named by the scene above it")
  func release() throws {
    let folder = try ARKitScannerFolder(named: "iphone")
    try folder.write("{}", to: "pose_intrinsic_imu.json")
    let scene = folder.path.removingLastComponent().lastComponent?.string ?? ""
    #expect(try recognize(folder).map(\.id) == [scene + "-iphone"])
    let again = FolderListing.named(folder.path.appending(".").string)
    #expect(try ARKitScannerReader.recognize(again()).map(\.id) == [scene + "-iphone"])
  }

  @Test("The layout of one file per frame is refused with its name")
  func firstLayout() throws {
    let folder = try ARKitScannerFolder()
    try folder.write([1, 2, 3], to: "1234.5_depthBuffer.bin")
    try folder.write([1, 2, 3], to: "1234.5_color.jpeg")
    #expect(try recognize(folder).map(\.certainty) == [.possible])
    #expect {
      try folder.open()
    } throws: { error in
      (error as? CaptureError)?.problem.contains("not supported") ?? false
    }
  }

  @Test("A folder with nothing readable in it is an error, not an empty capture")
  func nothingReadable() throws {
    let folder = try ARKitScannerFolder()
    try folder.write("no JSON", to: "trans.json")
    try folder.write("no video", to: "rgb.mp4")
    #expect(throws: CaptureError.self) { try folder.open() }
  }
}

extension FolderListing {
  /// The listing of a folder under a name of another form.
  fileprivate static func named(_ path: String) -> () throws -> FolderListing {
    { try FolderListing(of: FilePath(path)) }
  }
}
