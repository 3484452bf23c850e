@testable import Captures
import FoundationEssentials
import SystemPackage

/// A Strabo capture in the making.
final class StraboScratch: ScratchCapture {
  static let token = String(repeating: "0123456789abcdef", count: 4)

  convenience init() throws { try self.init(named: Self.token) }

  /// The only file of the folder with that extension, by name.
  func name(ofType type: String) throws -> String? {
    try FileManager.default.contentsOfDirectory(atPath: folder.string).sorted()
      .first { $0.hasSuffix(".\(type)") && $0 != "capture-info.json" }
  }

  func open() throws -> Capture { try StraboReader.open(recognition(as: .strabo)) }
}
