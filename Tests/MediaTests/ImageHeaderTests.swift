import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Media

@Suite struct `Heads of pictures` {
  /// A progressive JPEG with nothing but scans in it.
  private static func jpeg(_ width: Int, _ height: Int, scans: Int) -> [UInt8] {
    func pair(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
    let size: [UInt8] = [0xFF, 0xC2, 0, 11, 8] + pair(height) + pair(width) + [1, 1, 0x11, 0]
    let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0x34, 0xFF, 0x00]
    return [0xFF, 0xD8] + size + (0..<scans).flatMap { _ in scan } + [0xFF, 0xD9]
  }

  @Test func `a JPEG tells its size and its scans`() throws {
    let head = try ImageHeader(Self.jpeg(640, 480, scans: 7), file: nil)
    #expect((head.width, head.height, head.scans, head.kind) == (640, 480, 7, .jpeg))
  }

  @Test(
    arguments: [
      (64, 64, 100, nil), (64, 64, 101, "101 scans"), (40_000, 8, 1, "40000 pixels along"),
      (16_000, 16_000, 1, "256000000 pixels in a picture"),
      (8192, 8192, 1, "more than"), (4000, 4000, 60, nil),
      (5000, 3000, 100, nil), (4096, 4096, 101, "101 scans"),
    ] as [(Int, Int, Int, String?)])
  func `limits are looked at before anything is decoded`(
    _ width: Int, _ height: Int, _ scans: Int, _ problem: String?
  ) throws {
    let bytes = Self.jpeg(width, height, scans: scans)
    guard let problem else {
      #expect(try ImageHeader(bytes, file: nil).scans == scans)
      return
    }
    let error = try #require(throws: ImageError.self) { try ImageHeader(bytes, file: "a.jpg") }
    #expect(error.description.contains(problem))
    #expect(error.description.hasPrefix("a.jpg: "))
  }

  @Test func `a PNG is whole or refused, at every cut and with every byte changed`() throws {
    let whole = PNGSamples.gray16
    let head = try ImageHeader(whole, file: nil)
    #expect((head.width, head.height, head.kind) == (3, 2, .png))
    for length in 0..<whole.count {
      #expect(throws: ImageError.self) { try ImageHeader(Array(whole.prefix(length)), file: nil) }
    }
    for index in whole.indices {
      var changed = whole
      changed[index] ^= 0x10
      #expect(throws: ImageError.self) { try ImageHeader(changed, file: nil) }
    }
  }

  @Test func `a claim of a thousand million pixels is refused with the number and the limit`()
    throws
  {
    let error = try #require(throws: ImageError.self) {
      try ImageHeader.check(
        width: 32_768, height: 32_768, ofFileBytes: 130_000, kind: .png, file: "bomb.png")
    }
    #expect(error.description.contains("1073741824 pixels"))
    #expect(error.description.contains("\(InputLimits.pixelsOfPicture.most)"))
  }
}
