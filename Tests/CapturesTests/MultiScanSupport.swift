@testable import Captures
import SystemPackage
import TestSupport

/// A capture in the making.
final class MultiScanFolder: ScratchCapture {
  var path: FilePath { folder }

  convenience init() throws { try self.init(named: "capture") }

  func write(_ name: String, _ bytes: some Sequence<UInt8>) throws { try write(bytes, to: name) }
  func write(_ name: String, _ text: String) throws { try write(text, to: name) }

  /// Files whose names end so.
  func names(ending: String) -> [String] { names.filter { $0.hasSuffix(ending) } }

  /// The first capture in the folder, whatever its certainty.
  override func open() throws -> Capture {
    guard let found = MultiScanReader.recognize(try FolderListing(of: folder)).first else {
      throw Capture.NotRecognized()
    }
    return try MultiScanReader.open(found)
  }
}
