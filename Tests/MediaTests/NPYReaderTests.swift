@testable import Media
@testable import Core
import TestSupport
import Testing

@Suite("NumPy arrays of depth")
struct NPYReaderTests {
  /// Two rows of three pixels, unless the header says otherwise.
  static func file(
    _ header: String = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }",
    version: UInt8 = 1, pixels: [UInt16] = [1, 2, 3, 400, 500, 65_535]
  ) -> [UInt8] {
    let text = Array((header + "\n").utf8)
    let length = (0..<(version == 1 ? 2 : 4)).map {
      UInt8(truncatingIfNeeded: text.count >> (8 * $0))
    }
    return [0x93] + Array("NUMPY".utf8) + [version, 0] + length + text
      + pixels.littleEndianBytes
  }

  @Test("Both versions are read by rows", arguments: [1, 2] as [UInt8])
  func versions(version: UInt8) throws {
    let image = try NPYReader.depth(in: Self.file(version: version))
    #expect((image.width, image.height) == (3, 2))
    #expect(image.millimeters == [1, 2, 3, 400, 500, 65_535])
  }

  @Test("Keys in another order and other blanks are the same")
  func spelling() throws {
    let header = "{\"shape\":(2,3),'fortran_order' : False , 'descr':'<u2'}"
    #expect(try NPYReader.depth(in: Self.file(header)).height == 2)
  }

  @Test(
    "Other arrays, and claims beyond the file, are errors",
    arguments: [
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
      "{'descr': '>u2', 'fortran_order': False, 'shape': (2, 3), }",
      "{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3), }",
      "{'descr': '<u2', 'fortran_order': False, 'shape': (6,), }",
      "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3, 1), }",
      "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 4), }",
      "{'descr': '<u2', 'fortran_order': False, 'shape': (0, 3), }",
      "{'descr': '<u2', 'fortran_order': False, 'shape': (-2, -3), }",
      "{'descr': '<u2', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
      "{'descr': '<u2', 'fortran_order': False, 'shape': (20000, 20000), }",
      "{'descr': '<u2', 'fortran_order': False}", "", "{",
    ])
  func refused(header: String) {
    #expect(throws: ImageError.self) { try NPYReader.depth(in: Self.file(header)) }
  }

  @Test("A file that is cut anywhere is an error")
  func cut() {
    let bytes = Self.file()
    for length in bytes.indices {
      #expect(throws: ImageError.self) { try NPYReader.depth(in: Array(bytes[..<length])) }
    }
  }
}
