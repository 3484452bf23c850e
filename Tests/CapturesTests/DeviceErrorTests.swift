@testable import Captures
@testable import Core
import Synchronization
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

/// A disk or a network that fails while a capture is looked for and opened: nothing that is told of the
/// capture may be made without the file that could not be read, and the cause is told.
@Suite("A disk that fails while a capture is looked at", .serialized)
struct DeviceErrorTests {
  static let families = [
    "scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo", "stray-scanner", "3d-scanner-app",
    "polycam",
  ]

  private static func capture(_ family: String, _ folder: TemporaryFolder) throws -> FilePath {
    var options = SynthesisOptions(output: folder.path)
    (options.frames, options.width, options.height) = (3, 64, 48)
    if !["arkit-scanner", "multiscan"].contains(family) {
      (options.depthWidth, options.depthHeight) = (32, 24)
    }
    (options.id, options.truthPictures) = ("a", 0)
    let made = try SyntheticFamilies.write(family, options).folder
    return PathSafety.resolved(made) ?? made
  }

  /// What a capture has, as far as it matters here.
  private static func outline(_ capture: Capture) -> [String] {
    [
      "\(capture.frames.count) frames", "color \(capture.color.value != nil)",
      "depth \(capture.depth.value != nil)", "imu \(capture.imu.value?.samples.count ?? -1)",
      "poses \(capture.poses.value?.rows.count ?? -1)",
      "intrinsics \(capture.intrinsics.value?.count ?? -1)",
      "warnings \(capture.warnings.map { "\($0.code) \($0.subject)" })",
      "missing \(capture.completeness.absentFiles)",
    ]
  }

  /// At every file and folder of the capture, one after the other, every kind of look fails: for good, and at the
  /// first time only.
  @Test(
    "Every look at every file: told as the machine's, never as a capture of another kind",
    arguments: families)
  func everyLook(family: String) throws {
    let folder = try TemporaryFolder()
    let place = try Self.capture(family, folder)
    let registry = CaptureRegistry.builtIn
    let recognition = try #require(CaptureFinder(registry).find(place).captures.first)
    let whole = Self.outline(try registry.open(recognition))
    let seen = Mutex<Set<String>>([])
    StorageFaults.setLooks(below: place) { look, path in
      seen.withLock { _ = $0.insert("\(look.rawValue) \(path.text)") }
      return nil
    }
    _ = try registry.open(recognition)
    StorageFaults.setLooks(below: place, nil)
    let looks = seen.withLock { $0.sorted() }
    #expect(looks.count > 5)
    for (number, failing) in looks.enumerated() {
      let injected: Errno = [.ioError, .staleNFSFileHandle, .timedOut][number % 3]
      let isOnce = number % 2 == 0
      let count = Mutex(0)
      StorageFaults.setLooks(below: place) { look, path in
        guard "\(look.rawValue) \(path.text)" == failing else { return nil }
        let before = count.withLock { count in
          count += 1
          return count - 1
        }
        return isOnce && before > 0 ? nil : injected
      }
      defer { StorageFaults.setLooks(below: place, nil) }
      do throws(CaptureError) {
        let capture = try registry.open(recognition)
        #expect(capture.isToBeOpenedAgain, "\(failing) \(injected)")
      } catch {
        #expect(error.errorNumber == injected, "\(failing): \(error)")
        #expect(error.remedy?.contains("copy") != true, "\(error)")
      }
      StorageFaults.setLooks(below: place, nil)
      #expect(Self.outline(try registry.open(recognition)) == whole, "\(failing)")
    }
  }

  @Test(
    "A search tells what it could not look at, and recognizes nothing in it", arguments: families)
  func search(family: String) throws {
    let folder = try TemporaryFolder()
    let place = try Self.capture(family, folder)
    let root = PathSafety.resolved(folder.path) ?? folder.path
    let finder = CaptureFinder(CaptureRegistry.builtIn)
    let found = finder.find(root)
    let kinds: [StorageFaults.Look] = [.list, .open]
    for kind in kinds {
      StorageFaults.setLooks(below: place) { look, path in
        look == kind && (kind == .open || path == place) ? .staleNFSFileHandle : nil
      }
      let failing = finder.find(root)
      StorageFaults.setLooks(below: place, nil)
      #expect(!failing.captures.contains { $0.path.starts(with: place) && kind == .list })
      #expect(failing.captures.allSatisfy { found.captures.contains($0) })
      #expect(!failing.unrecognized.contains { $0.path.starts(with: place) })
      #expect(
        failing.unreadable.contains { $0.error.code == .staleNFSFileHandle }
          || !failing.captures.isEmpty)
    }
    #expect(finder.find(root).captures == found.captures)
  }

  @Test(
    "A folder that is called like one of a storage server is searched where an upload server noted files in it"
  )
  func uploads() throws {
    let folder = try TemporaryFolder()
    for name in ["lost+found", "#recycle"] {
      let scratch = folder.path.appending(name)
      try FileSystem.makeFolder(scratch)
      let made = try Self.capture("vi-slam", folder)
      try FileSystem.rename(made, to: scratch.appending("x"))
      try FileSystem.remove(folder.path.appending("a.truth"))
    }
    let finder = CaptureFinder(CaptureRegistry.builtIn)
    #expect(finder.find(folder.path).captures.isEmpty)
    try OutputFile.write(
      Array("{}".utf8), to: folder.path.appending("lost+found").appending(UploadManifest.fileName))
    #expect(finder.find(folder.path).captures.map { $0.path.name } == ["x"])
  }
}
